"""A price on rules that fire unevenly, which enters through the backward pass."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .once import once_differentiable


class _Balanced(torch.autograd.Function):
    """Gives the firing levels as they are; backwards, adds the penalty's gradient to theirs."""

    @staticmethod
    def forward(ctx: Any, levels: Tensor, weight: float) -> Tensor:
        ctx.weight = weight
        ctx.save_for_backward(levels.mean(dim=0))
        ctx.rows = len(levels)
        return levels.view_as(levels)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        (mean,) = ctx.saved_tensors
        # A rule that never fires: the logarithm stays finite, and no gradient passes its firing of 0 anyway.
        relative = (len(mean) * mean).clamp_min(torch.finfo(mean.dtype).tiny)
        return grad + (relative.log() + 1) * (ctx.weight / max(ctx.rows, 1)), None


def balanced(levels: Tensor, weight: float) -> Tensor:
    """The firing levels (B, U) unchanged; backwards, the gradient of a penalty on them is added to theirs.

    It is `weight * KL(f || uniform) = weight * sum_u f_u log(U f_u)` of the mean firing f over the batch, which is 0
    where all rules fire alike: as if it stood in the loss, once for each backward pass, whatever the loss is scaled by.
    """
    result: Tensor = _Balanced.apply(levels, weight)  # type: ignore[no-untyped-call]
    return result
