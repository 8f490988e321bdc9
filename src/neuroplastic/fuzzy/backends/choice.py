"""Which backend computes."""

from __future__ import annotations

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
# In order of preference. The eager one serves everybody.
_FAST: tuple[Backend, ...] = () if COMPILED is None else (COMPILED,)
_fast = True


def backend_for(tensor: Tensor, terms: int = 1) -> Backend:
    """The fastest backend for tensors like this one, with so many terms of an attribute.

    A program that is being traced or exported gets the eager one, whose every step a graph can hold.
    """
    if _fast and not traced():
        for backend in _FAST:
            if backend.serves(tensor, terms):
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
