"""alpha-entmax of rows where nobody may look at values: what the `entmax` package computes, for GPUs and compilers.

Its own functions are written in a way that compilers refuse, and the gradient of its sparsemax waits for a GPU.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .once import once_differentiable

HALVINGS = 50


def entmax15(rows: Tensor) -> Tensor:
    """1.5-entmax over dim 1, by sorting."""
    levels: Tensor = _Entmax15.apply(rows)  # type: ignore[no-untyped-call]
    return levels


def sparsemax(rows: Tensor) -> Tensor:
    """2-entmax over dim 1. With k entries in the support the threshold is their mean less 1 / k."""
    ordered = rows.detach().sort(dim=1, descending=True).values
    size = (_counted(rows) * ordered > ordered.cumsum(dim=1) - 1).sum(dim=1, keepdim=True)
    inside = rows.detach() >= ordered.gather(1, size - 1)
    threshold = (rows.where(inside, 0).sum(dim=1, keepdim=True) - 1) / size
    return (rows - threshold).where(inside, 0).clamp_min(0)


def bisected(rows: Tensor, alpha: Tensor) -> Tensor:
    """alpha-entmax over dim 1 for any alpha above 1, one number, by halving the interval of the threshold."""
    levels: Tensor = _Bisected.apply(rows, alpha)  # type: ignore[no-untyped-call]
    return levels


def _counted(rows: Tensor) -> Tensor:
    """1 to U."""
    return torch.arange(1, rows.shape[1] + 1, device=rows.device, dtype=rows.dtype)


class _Entmax15(torch.autograd.Function):
    """`max(z - tau, 0)**2` with z half the row; backwards J = diag(s) - s s^T / sum(s), s the roots of the levels."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor) -> Tensor:
        half, count = rows / 2, _counted(rows)
        ordered = half.sort(dim=1, descending=True).values
        mean = ordered.cumsum(dim=1) / count
        spread = count * (ordered.square().cumsum(dim=1) / count - mean.square())
        thresholds = mean - ((1 - spread) / count).clamp_min(0).sqrt()
        size = (thresholds <= ordered).sum(dim=1, keepdim=True)
        levels = (half - thresholds.gather(1, size - 1)).clamp_min(0).square()
        ctx.save_for_backward(levels)
        return levels

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        (levels,) = ctx.saved_tensors
        slope = levels.sqrt()
        return _projected(grad, slope)


class _Bisected(torch.autograd.Function):
    """`max((alpha - 1) z - tau, 0)**(1 / (alpha - 1))`, and the gradients of rows and alpha."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, alpha: Tensor) -> Tensor:
        scaled = rows * (alpha - 1)
        low = scaled.amax(dim=1, keepdim=True) - 1
        step = 1 - (1 / rows.shape[1]) ** (alpha - 1)
        levels = torch.zeros_like(rows)
        for _ in range(HALVINGS):
            step = step / 2
            levels = (scaled - (low + step)).clamp_min(0) ** (1 / (alpha - 1))
            low = torch.where(levels.sum(dim=1, keepdim=True) >= 1, low + step, low)
        levels = levels / levels.sum(dim=1, keepdim=True)
        ctx.save_for_backward(levels, alpha)
        return levels

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor | None]:
        levels, alpha = ctx.saved_tensors
        slope = (levels ** (2 - alpha)).where(levels > 0, 0)
        of_rows, of_alpha = _projected(grad, slope), None
        if ctx.needs_input_grad[1]:
            share = slope / slope.sum(dim=1, keepdim=True)
            entropy = (levels * levels.log()).where(levels > 0, 0)
            moved = (levels - share) / (alpha - 1).square()
            spent = (entropy - share * entropy.sum(dim=1, keepdim=True)) / (alpha - 1)
            of_alpha = (grad * (moved - spent)).sum().view(alpha.shape)
        return of_rows, of_alpha


def _projected(grad: Tensor, slope: Tensor) -> Tensor:
    """`slope (g - sum slope g / sum slope)` of each row."""
    scaled = grad * slope
    return scaled - slope * (scaled.sum(dim=1, keepdim=True) / slope.sum(dim=1, keepdim=True))
