"""Which backend computes."""

from __future__ import annotations

import functools
import importlib.util
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from torch import Tensor

from ..tracing import traced
from .compiled import Compiled
from .eager import Eager
from .interface import Backend
from .library import open_library

EAGER = Eager()
_library = open_library()
COMPILED = None if _library is None else Compiled(_library)
_fast = True
LEAST_TRITON = (3, 3)


@functools.cache
def triton_backend() -> Backend | None:
    """The Triton kernels; None where they cannot be compiled, or are switched off by NEUROPLASTIC_KERNEL=0.

    They need Triton, of a version that knows all they ask for, and the C compiler that it calls.
    """
    if os.environ.get("NEUROPLASTIC_KERNEL") == "0" or importlib.util.find_spec("triton") is None:
        return None
    if not (os.environ.get("CC") or any(map(shutil.which, ("gcc", "clang", "cc")))):
        return None
    version: str = importlib.import_module("triton").__version__
    if tuple(map(int, version.split(".")[:2])) < LEAST_TRITON:
        return None
    from .triton_backend import Triton  # takes a second, and only who has a GPU needs it

    return Triton()


def _fastest(tensor: Tensor) -> Backend | None:
    return COMPILED if tensor.is_cpu else triton_backend() if tensor.is_cuda else None


def backend_for(tensor: Tensor, terms: int = 1) -> Backend:
    """The fastest backend for tensors like this one, with so many terms of an attribute.

    A program that is being traced or exported gets the eager one, whose every step a graph can hold.
    """
    if _fast and not traced():
        backend = _fastest(tensor)
        if backend is not None and backend.serves(tensor, terms):
            return backend
    return EAGER


def compiled_available() -> bool:
    """Whether the C library was built and can be used."""
    return COMPILED is not None


@contextmanager
def eager_only() -> Iterator[None]:
    """Compute with the eager backend inside the block (for tests and comparisons)."""
    global _fast
    before, _fast = _fast, False
    try:
        yield
    finally:
        _fast = before
