"""Every backend that is to be had, and both precisions."""

from types import SimpleNamespace

import pytest
import torch

from tests.fuzzy.backend_cases import BACKENDS, TOLERANCES


@pytest.fixture(params=BACKENDS)
def at(request):
    """A backend and the device it computes on."""
    backend, device = BACKENDS[request.param]
    if backend is None:
        pytest.skip(f"the {request.param} backend cannot be used on this machine")
    return SimpleNamespace(backend=backend, device=torch.device(device))


@pytest.fixture(params=TOLERANCES, ids=str)
def dtype(request):
    return request.param
