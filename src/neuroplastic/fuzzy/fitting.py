"""A price on rules that fire where they do not fit, which enters through the backward pass."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from .once import once_differentiable

# A premise fits from membership .5 on: so far away its log-membership is at most.
FITS = math.log(2)


class _Fitting(torch.autograd.Function):
    """Gives the firing levels as they are; backwards, adds the penalty's gradient to theirs and the log-firings'."""

    @staticmethod
    def forward(ctx: Any, levels: Tensor, worst: Tensor, weight: float) -> Tensor:
        ctx.weight = weight
        ctx.save_for_backward(levels, worst)
        return levels.view_as(levels)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None]:
        levels, worst = ctx.saved_tensors
        share = ctx.weight / max(len(levels), 1)
        beyond = (-worst - FITS).clamp_min(0)
        return grad + share * beyond.to(grad.dtype), -share * levels.to(worst.dtype) * (beyond > 0), None


def fitting(levels: Tensor, worst: Tensor, weight: float) -> Tensor:
    """The firing levels (B, U) unchanged; backwards, the gradients of a penalty are added to theirs and to those of
    `worst` (B, U), the log-membership of each rule's worst premise.

    It is `weight * mean_b sum_u f_u max(0, -worst_u - log 2)`, which is 0 where every rule that fires fits: all its
    premises have membership .5 or more. As if it stood in the loss, once for each backward pass.
    """
    result: Tensor = _Fitting.apply(levels, worst, weight)  # type: ignore[no-untyped-call]
    return result
