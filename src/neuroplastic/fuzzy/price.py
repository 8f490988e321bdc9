"""The price of premises: rules that may choose "any" pay for every premise that is not.

With the logits l (T, D, U), softmax over the sets that exist, and the rate r of the estimator (1 for STE, which has
none), a rule asks something of an attribute with probability

    P[d,u] = 1 - sum_(t is "any") softmax_t(r l)[t,d,u]

and the penalty is `price * mean_u sum_d P[d,u]`. It never stands in the loss: its gradient joins that of the logits on
the way back, so a training loop need not know of it.

The plain estimator hands each logit the gradient of its own set alone, and that of "any", whose log-membership is 0, is
0: it would learn of its price and never of what a premise is worth. All logits of a premise raised by the same number
choose the same, so the gradient of STE is taken less its mean over the sets, which tells "any" what the others do.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .once import once_differentiable
from .selection import bar


def penalty(logits: Tensor, mask: Tensor, nothing: Tensor, price: float, rate: float) -> Tensor:
    """`price * mean_u sum_d P[d,u]`, a number, of logits (T, D, U).

    `mask` says which of the sets (D, T) exist, `nothing` which of them are "any"; a rate of 0 stands for STE.
    """
    exists = mask.t().unsqueeze(-1)
    chances = _chances(logits.masked_fill(~exists, -torch.inf), rate)
    ignoring = (chances * nothing.t().unsqueeze(-1)).sum(dim=0)
    return price * (1 - ignoring).sum(dim=0).mean()


def priced(logits: Tensor, mask: Tensor, nothing: Tensor, price: float, rate: float) -> Tensor:
    """The logits as they are; backwards, the gradient of the penalty is added to theirs.

    A rate of 0 stands for STE, whose gradient is made to add up to 0 over the sets of a premise first.
    """
    result: Tensor = _Priced.apply(logits, mask, nothing, price, rate)  # type: ignore[no-untyped-call]
    return result


def _chances(scores: Tensor, rate: float) -> Tensor:
    """Softmax over the terms, (T, D, U)."""
    return torch.softmax((scores - scores.detach().amax(dim=0)) * (rate or 1.0), dim=0)


class _Priced(torch.autograd.Function):
    """Identity; backwards `price / U * r p_t (p_any - [t is "any"])` is added."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, mask: Tensor, nothing: Tensor, price: float, rate: float) -> Tensor:
        ctx.price, ctx.rate = price, rate
        ctx.save_for_backward(logits, mask, nothing)
        return logits.view_as(logits)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        logits, mask, nothing = ctx.saved_tensors
        exists = mask.t().unsqueeze(-1)
        if ctx.rate == 0:
            present = exists.to(grad.dtype)
            grad = (grad - (grad * present).sum(dim=0) / present.sum(dim=0)) * present
        if ctx.price == 0:
            return grad, None, None, None, None
        chances = _chances(bar(logits.clone(), exists), ctx.rate)
        ignores = nothing.t().unsqueeze(-1).to(logits.dtype)
        slope = chances.mul_((chances * ignores).sum(dim=0) - ignores)
        paid = grad.add(slope, alpha=ctx.price * (ctx.rate or 1.0) / logits.shape[-1])
        return paid, None, None, None, None
