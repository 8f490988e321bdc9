"""Log-firing of the rules (Eq. 6) with straight-through gradients of the premises.

The choice of term does not change the algebra: with the chosen centre C and precision S, each (D, U),
`w[b,u] = -sum_d S (x - C)**2`, whose cost does not depend on T. Backwards, with the moments of the incoming
gradient g, `G2 = (x*x)^T g`, `G1 = x^T g`, `G0 = sum_b g`, the gradient of the choice of term t is
`-s_t (G2 - 2 c_t G1 + c_t**2 G0)`: elementwise, with no tensor of shape (B, D, T) or (B, D, U).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .backends import Chosen, backend_for
from .membership import origin_of
from .once import once_differentiable
from .worst import settled_worst, worst_log_firing

__all__ = ["Chosen", "choose_terms", "log_firing", "settled_log_firing"]


def choose_terms(
    logits: Tensor, noise: Tensor | None, mask: Tensor, centers: Tensor, precisions: Tensor
) -> Chosen:
    """Select one existing term per attribute and rule from logits (T, D, U) and sets (D, T)."""
    logits, centers, precisions = logits.detach(), centers.detach(), precisions.detach()
    return backend_for(logits, len(logits)).select(logits, noise, mask, centers, precisions)


def settled_log_firing(x: Tensor, chosen: Chosen, power: float | None = None) -> Tensor:
    """`w[b,u] = -sum_d S (x - C)**2` (Eq. 6) for a choice that is settled, (B, U); with a `power`, see `log_firing`."""
    if power is not None:
        return settled_worst(x, chosen, power)
    return backend_for(x).distance(x, chosen.center, chosen.precision)


class _LogFiring(torch.autograd.Function):
    """Hard forward pass, straight-through backward pass."""

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        centers: Tensor,
        precisions: Tensor,
        logits: Tensor,
        noise: Tensor | None,
        mask: Tensor,
        chosen: Chosen,
        rate: float,
    ) -> Tensor:
        ctx.rate = rate
        ctx.save_for_backward(x, centers, precisions, logits, noise, mask, *chosen)
        return settled_log_firing(x, chosen)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        x, centers, precisions, logits, noise, mask, *selected = ctx.saved_tensors
        chosen, origin = Chosen(*selected), origin_of(centers, mask)
        shifted = x - origin
        grad_x = grad_centers = grad_precisions = grad_logits = None
        if ctx.needs_input_grad[0]:
            grad_x = _input_gradient(grad, shifted, chosen, origin)
        if any(ctx.needs_input_grad[1:4]):
            powers = torch.cat((shifted, shifted.square()), dim=1)
            first, second = (powers.t() @ grad).chunk(2)
            moments = (grad.sum(dim=0), first, second)
            sets = (centers - origin.unsqueeze(1), precisions)
            grad_logits, grad_centers, grad_precisions = backend_for(logits, len(logits)).gradient(
                logits, noise, mask, chosen.term, *sets, moments, ctx.rate
            )
        return grad_x, grad_centers, grad_precisions, grad_logits, None, None, None, None


def _input_gradient(grad: Tensor, shifted: Tensor, chosen: Chosen, origin: Tensor) -> Tensor:
    """Gradient of x: `sum_u g * 2 S (C - x)`, (B, D)."""
    weighted = (chosen.center - origin.unsqueeze(1)).mul_(chosen.precision)
    return (grad @ weighted.t()).addcmul_(shifted, grad @ chosen.precision.t(), value=-1).mul_(2)


def log_firing(
    x: Tensor,
    centers: Tensor,
    precisions: Tensor,
    logits: Tensor,
    noise: Tensor | None,
    mask: Tensor,
    chosen: Chosen,
    *,
    rate: float,
    power: float | None = None,
) -> Tensor:
    """Log-firing of each rule, the logarithm of the product in Eq. 3, as the sum over attributes (Eq. 6), (B, U).

    `chosen` is what `choose_terms` gave for the same arguments; `rate` is `1 / tau**2` for STGE and 0 for STE.
    A later birth fills a slot that `mask` leaves out, so a graph built here stays valid. With a `power` premises are
    not summed: the log-firing is the worst one's, as `worst_log_firing` has it.
    """
    if power is not None:
        return worst_log_firing(x, centers, precisions, logits, noise, mask, chosen, rate=rate, power=power)
    result: Tensor = _LogFiring.apply(x, centers, precisions, logits, noise, mask, chosen, rate)  # type: ignore[no-untyped-call]
    return result
