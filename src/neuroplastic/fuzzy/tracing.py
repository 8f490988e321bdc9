"""When values of a tensor may be looked at."""

from __future__ import annotations

import torch
from torch import Tensor


def traced() -> bool:
    """Whether a compiler or exporter is recording the program, so that values must not be looked at."""
    return torch.compiler.is_compiling() or bool(torch.jit.is_tracing())  # type: ignore[attr-defined, no-untyped-call]


def may_look(tensor: Tensor) -> bool:
    """Whether values may be looked at: not while a graph is being traced, and not at the price of a GPU wait."""
    return not traced() and tensor.is_cpu
