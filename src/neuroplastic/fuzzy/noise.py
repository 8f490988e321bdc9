"""Gumbel noise as a function of a seed and a position.

A counter-based generator instead of a stream: the same seed gives the same noise on every device and backend, and
the noise of one slot does not depend on which others are in use. So a term that is born finds noise of its own while
all other noise stays as it was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from .backends import backend_for
from .splitmix import mix

if TYPE_CHECKING:
    from .selection import Selection

__all__ = ["gumbel", "gumbel_of", "mix"]


def gumbel(seed: int, shape: tuple[int, ...], device: torch.device, dtype: torch.dtype) -> Tensor:
    """Gumbel(0, 1) noise, the N of Eq. 8: `-log(-log(uniform))`."""
    backend = backend_for(torch.empty(0, device=device, dtype=torch.float32))
    return backend.uniform(seed, shape, device).to(dtype).log_().neg_().log_().neg_()


def gumbel_of(
    seed: Tensor, draw: Tensor, selection: Selection, shape: tuple[int, ...], dtype: torch.dtype
) -> Tensor:
    """`gumbel` of a seed (1,) and the number of a draw that nobody looks at, as `selection` scales it."""
    backend = backend_for(torch.empty(0, device=seed.device, dtype=dtype))
    return backend.gumbel(seed, draw, selection.noise, selection.noise_fall, shape, dtype)
