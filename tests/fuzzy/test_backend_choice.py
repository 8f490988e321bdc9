"""Which backend is chosen for a tensor, and what is chosen where something is missing."""

import importlib.util
import shutil

import torch

from neuroplastic.fuzzy import backends
from neuroplastic.fuzzy.backends import choice


def test_the_fastest_backend_that_serves_is_chosen():
    x = torch.zeros(2, 3)
    assert backends.backend_for(x) is (choice.COMPILED or choice.EAGER)
    for odd in (x.half(), x.to("meta"), x.to(torch.int64)):
        assert backends.backend_for(odd) is choice.EAGER
    assert backends.backend_for(x, terms=256) is choice.EAGER
    with backends.eager_only():
        assert backends.backend_for(x) is choice.EAGER
    assert backends.compiled_available() == (choice.COMPILED is not None)
    traced = torch.compile(lambda x: x + (backends.backend_for(x) is choice.EAGER), backend="eager")
    assert traced(torch.zeros(1)).item() == 1


def test_without_a_c_compiler_a_gpu_gets_the_eager_backend(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.delenv("CC", raising=False)
    assert choice.triton_backend.__wrapped__() is None
