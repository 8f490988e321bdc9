"""Gaussian fuzzy sets in log space (Eq. 2).

Sets are tables of shape (D, T): `centers`, `precisions = 1 / (2 widths**2)` and `mask`, which says which exist.
All work goes term by term, so no tensor of shape (B, D, T) is made.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

# Widths are positive by construction: stored raw, read as floor + softplus(raw).
WIDTH_FLOOR = 1e-4
# A set this wide asks nothing of any input that is met.
WIDE_ENOUGH = 1e12


def widths_from_raw(raw: Tensor) -> Tensor:
    """Widths as the network uses them: `floor + softplus(raw)`."""
    return WIDTH_FLOOR + F.softplus(raw)


def raw_from_widths(widths: Tensor) -> Tensor:
    """The raw values whose widths these are; widths below twice the floor are raised to it."""
    excess = (widths - WIDTH_FLOOR).clamp_min(WIDTH_FLOOR)
    return excess + torch.log(-torch.expm1(-excess))


def any_width(dtype: torch.dtype) -> float:
    """The width that stands for "any": its membership is 1 everywhere, so a premise on it asks nothing."""
    return min(1e18, torch.finfo(dtype).max / 2)


def asks_nothing(widths: Tensor) -> Tensor:
    """Which sets are so wide that they stand for "any"; far below `any_width`, for weight decay wears it down."""
    return widths >= min(WIDE_ENOUGH, any_width(widths.dtype) / 2)


def precisions_from_widths(widths: Tensor) -> Tensor:
    """`1 / (2 sigma**2)`, the factor of the squared distance in the log-membership."""
    return 0.5 / widths.square()


def origin_of(centers: Tensor, mask: Tensor) -> Tensor:
    """Mean of the existing centres of each attribute, (D,): measured from here, products lose few digits."""
    return centers.where(mask, 0).sum(dim=1) / mask.to(centers.dtype).sum(dim=1).clamp_min(1)


def input_limit(dtype: torch.dtype) -> float:
    """Inputs beyond this magnitude are treated as lying on it: their squares still fit the number format."""
    return min(float(torch.finfo(dtype).max ** 0.25), 1e60)


def log_membership(x: Tensor, centers: Tensor, precisions: Tensor, term: int) -> Tensor:
    """Log-membership (Eq. 2) of x (B, D) in the `term`-th set of each attribute, (B, D): one j of Eq. 4's matrix."""
    return -(x - centers[:, term]).square() * precisions[:, term]


def cardinality(x: Tensor, centers: Tensor, precisions: Tensor) -> Tensor:
    """Scalar cardinality of every set over the batch (Appendix A): `S[i,j] = sum_b mu[b,i,j]`, (D, T)."""
    terms = range(centers.shape[1])
    sums = [log_membership(x, centers, precisions, term).exp_().sum(dim=0) for term in terms]
    return torch.stack(sums, dim=1)
