"""When values of a tensor may be looked at."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from torch import Tensor

_recording: ContextVar[bool] = ContextVar("recording", default=False)


@contextmanager
def recording() -> Iterator[None]:
    """What runs inside may be recorded once and replayed often, as a CUDA graph is.

    So no value is looked at, and nothing that was kept from an earlier pass stands in for computing it.
    """
    token = _recording.set(True)
    try:
        yield
    finally:
        _recording.reset(token)


def traced() -> bool:
    """Whether a compiler or exporter is recording the program, step by step."""
    return torch.compiler.is_compiling() or bool(torch.jit.is_tracing())  # type: ignore[attr-defined, no-untyped-call]


def recorded() -> bool:
    """Whether the program is recorded, by a compiler, an exporter or a CUDA graph: values must not be looked at."""
    return traced() or _recording.get() or _capturing()


def _capturing() -> bool:
    return bool(torch.cuda.is_initialized()) and torch.cuda.is_current_stream_capturing()  # type: ignore[no-untyped-call]


def may_look(tensor: Tensor) -> bool:
    """Whether values may be looked at: not while the program is recorded, and not at the price of a GPU wait."""
    return tensor.is_cpu and not recorded()
