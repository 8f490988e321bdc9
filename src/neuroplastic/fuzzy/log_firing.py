"""Log-firing of the rules (Eq. 6) with straight-through gradients of the premises.

The choice of term does not change the algebra: with the chosen centre C and precision S, each (D, U),
`w[b,u] = -sum_d S (x - C)**2`, whose cost does not depend on T. Backwards, with the moments of the incoming
gradient g, `G2 = (x*x)^T g`, `G1 = x^T g`, `G0 = sum_b g`, the gradient of the choice of term t is
`-s_t (G2 - 2 c_t G1 + c_t**2 G0)`: elementwise, with no tensor of shape (B, D, T) or (B, D, U).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from . import kernel
from .selection import hard_choice


class Chosen(NamedTuple):
    """The selected term of every attribute and rule, its centre and its precision, each (D, U)."""

    term: Tensor
    center: Tensor
    precision: Tensor


def choose_terms(
    logits: Tensor, noise: Tensor | None, mask: Tensor, centers: Tensor, precisions: Tensor
) -> Chosen:
    """Select one existing term per attribute and rule from logits (T, D, U) and sets (D, T)."""
    logits, centers, precisions = logits.detach(), centers.detach(), precisions.detach()
    if kernel.serves(logits, logits.shape[0]):
        return Chosen(*kernel.select(logits, noise, mask, centers.contiguous(), precisions.contiguous()))
    term = hard_choice(logits, noise, mask.t().unsqueeze(-1))
    return Chosen(term, centers.gather(1, term), precisions.gather(1, term))


def _origin(centers: Tensor, mask: Tensor) -> Tensor:
    """Mean of the existing centres of each attribute, (D,): measured from here, products lose few digits."""
    weight = mask.to(centers.dtype)
    return (centers * weight).sum(dim=1) / weight.sum(dim=1).clamp_min(1)


def wide(tensor: Tensor) -> Tensor:
    """Double precision where the device has it."""
    return tensor if tensor.device.type == "mps" else tensor.double()


def settled_log_firing(x: Tensor, chosen: Chosen) -> Tensor:
    """`w[b,u] = -sum_d S (x - C)**2` (Eq. 6) for a choice that is settled, (B, U).

    Without the kernel: two matrix products of the expanded square, which cancels, hence the doubles.
    """
    if kernel.serves(x):
        return kernel.distance(x.contiguous(), chosen.center, chosen.precision)
    origin = chosen.center.mean(dim=1)
    shifted, center = wide(x - origin), wide(chosen.center - origin.unsqueeze(1))
    precision = wide(chosen.precision)
    weighted = precision * center
    inner = shifted.square() @ precision - 2 * (shifted @ weighted)
    return -(inner + (weighted * center).sum(dim=0)).to(x.dtype)


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
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        x, centers, precisions, logits, noise, mask, *selected = ctx.saved_tensors
        chosen, origin = Chosen(*selected), _origin(centers, mask)
        shifted = x - origin
        grad_x = grad_centers = grad_precisions = grad_logits = None
        if ctx.needs_input_grad[0]:
            weighted = chosen.precision * (chosen.center - origin.unsqueeze(1))
            grad_x = 2 * (grad @ weighted.t() - shifted * (grad @ chosen.precision.t()))
        if any(ctx.needs_input_grad[1:4]):
            products = torch.cat([shifted, shifted.square()], dim=1).t() @ grad
            first, second = products.chunk(2)
            moments = (grad.sum(dim=0), first, second)
            sets = (centers - origin.unsqueeze(1), precisions)
            gradients = kernel.gradient if kernel.serves(x, logits.shape[0]) else _eager_gradient
            grad_logits, grad_centers, grad_precisions = gradients(
                logits, noise, mask, chosen.term, *sets, moments, ctx.rate
            )
        return grad_x, grad_centers, grad_precisions, grad_logits, None, None, None, None


def _eager_gradient(
    logits: Tensor,
    noise: Tensor | None,
    mask: Tensor,
    term: Tensor,
    centers: Tensor,
    precisions: Tensor,
    moments: tuple[Tensor, Tensor, Tensor],
    rate: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of logits (T, D, U), centres and precisions (D, T) from the moments of the incoming gradient."""
    zeroth, first, second = moments
    grad_logits = torch.empty_like(logits)
    grad_centers, grad_precisions = torch.empty_like(centers), torch.empty_like(precisions)
    for t in range(logits.shape[0]):
        c, s = centers[:, t : t + 1], precisions[:, t : t + 1]
        square = second - 2 * c * first + c.square() * zeroth
        used = term == t
        grad_precisions[:, t] = -(square * used).sum(dim=1)
        grad_centers[:, t] = 2 * s.squeeze(1) * ((first - c * zeroth) * used).sum(dim=1)
        grad_logits[t] = square.mul_(-s).masked_fill_(~mask[:, t : t + 1], 0)
    if rate > 0:
        scores = logits if noise is None else logits + noise
        weight = torch.softmax(scores.mul(rate).masked_fill_(~mask.t().unsqueeze(-1), -torch.inf), dim=0)
        grad_logits -= (weight * grad_logits).sum(dim=0)
        grad_logits *= weight.mul_(rate)
    return grad_logits, grad_centers, grad_precisions


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
) -> Tensor:
    """Log-firing of each rule as the sum over attributes (Eq. 6), (B, U).

    `chosen` is what `choose_terms` gave for the same arguments; `rate` is `1 / tau**2` for STGE and 0 for STE.
    A later birth fills a slot that `mask` leaves out, so a graph built here stays valid.
    """
    result: Tensor = _LogFiring.apply(x, centers, precisions, logits, noise, mask, chosen, rate)  # type: ignore[no-untyped-call]
    return result
