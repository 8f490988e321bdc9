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
from .selection import barred, hard_choice

# On the CPU the eager path goes through the attributes in parts that stay in the cache.
ATTRIBUTES_AT_ONCE = 128


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
    index = term.to(torch.uint8 if len(logits) <= kernel.MOST_TERMS else torch.int16)
    return Chosen(index, centers.gather(1, term), precisions.gather(1, term))


def _origin(centers: Tensor, mask: Tensor) -> Tensor:
    """Mean of the existing centres of each attribute, (D,): measured from here, products lose few digits."""
    weight = mask.to(centers.dtype)
    return (centers * weight).sum(dim=1) / weight.sum(dim=1).clamp_min(1)


def wide(tensor: Tensor) -> Tensor:
    """Double precision where the device has it."""
    return tensor if tensor.device.type == "mps" else tensor.double()


def _parts(table: Tensor) -> list[slice]:
    """Slices of the attributes, the last dimension but one, to be worked on one after the other."""
    attributes = table.shape[-2]
    size = ATTRIBUTES_AT_ONCE if table.device.type == "cpu" else attributes
    return [slice(start, start + size) for start in range(0, attributes, size)]


def settled_log_firing(x: Tensor, chosen: Chosen) -> Tensor:
    """`w[b,u] = -sum_d S (x - C)**2` (Eq. 6) for a choice that is settled, (B, U).

    Without the kernel: two matrix products of the expanded square, which cancels, hence the doubles.
    """
    if kernel.serves(x):
        return kernel.distance(x.contiguous(), chosen.center, chosen.precision)
    total = wide(x.new_zeros(len(x), chosen.center.shape[1]))
    for rows in _parts(chosen.center):
        origin = chosen.center[rows].mean(dim=1)
        shifted, center = wide(x[:, rows] - origin), wide(chosen.center[rows] - origin.unsqueeze(1))
        precision = wide(chosen.precision[rows])
        weighted = precision * center
        total = (
            total - shifted.square() @ precision + 2 * (shifted @ weighted) - (weighted * center).sum(dim=0)
        )
    return total.to(x.dtype)


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
            grad_x = _input_gradient(grad, shifted, chosen, origin)
        if any(ctx.needs_input_grad[1:4]):
            powers = x.new_empty(len(x), 2, x.shape[1])
            powers[:, 0] = shifted
            torch.mul(shifted, shifted, out=powers[:, 1])
            products = powers.view(len(x), 2 * x.shape[1]).t() @ grad
            first, second = products.chunk(2)
            moments = (grad.sum(dim=0), first, second)
            sets = (centers - origin.unsqueeze(1), precisions)
            gradients = kernel.gradient if kernel.serves(x, logits.shape[0]) else _eager_gradient
            grad_logits, grad_centers, grad_precisions = gradients(
                logits, noise, mask, chosen.term, *sets, moments, ctx.rate
            )
        return grad_x, grad_centers, grad_precisions, grad_logits, None, None, None, None


def _input_gradient(grad: Tensor, shifted: Tensor, chosen: Chosen, origin: Tensor) -> Tensor:
    """Gradient of x: `sum_u g * 2 S (C - x)`, (B, D)."""
    weighted = (chosen.center - origin.unsqueeze(1)).mul_(chosen.precision)
    return (grad @ weighted.t()).addcmul_(shifted, grad @ chosen.precision.t(), value=-1).mul_(2)


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
    for rows in _parts(logits):
        for t in range(logits.shape[0]):
            c, s = centers[rows, t : t + 1], precisions[rows, t : t + 1]
            used = term[rows] == t
            slope = torch.addcmul(first[rows], c, zeroth, value=-1)
            square = torch.addcmul(second[rows], c, first[rows] + slope, value=-1)
            grad_centers[rows, t] = 2 * s.squeeze(1) * slope.mul_(used).sum(dim=1)
            grad_precisions[rows, t] = -torch.mul(square, used, out=slope).sum(dim=1)
            torch.mul(square, -s * mask[rows, t : t + 1], out=grad_logits[t, rows])  # of the one-hot choice
        if rate > 0:
            scores = logits[:, rows].clone() if noise is None else logits[:, rows] + noise[:, rows]
            _through_softmax(grad_logits[:, rows], scores, mask[rows], rate)
    return grad_logits, grad_centers, grad_precisions


def _through_softmax(grad: Tensor, scores: Tensor, mask: Tensor, rate: float) -> None:
    """Turn the gradient of the one-hot choice into that of the logits, in place: `p (q - sum_t p q) rate`."""
    weight = scores.add_(barred(mask.t().unsqueeze(-1), scores.dtype))
    weight.sub_(weight.amax(dim=0)).mul_(rate).exp_()
    weight.div_(weight.sum(dim=0))
    grad.sub_((weight * grad).sum(dim=0)).mul_(weight).mul_(rate)


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
    """Log-firing of each rule, the logarithm of the product in Eq. 3, as the sum over attributes (Eq. 6), (B, U).

    `chosen` is what `choose_terms` gave for the same arguments; `rate` is `1 / tau**2` for STGE and 0 for STE.
    A later birth fills a slot that `mask` leaves out, so a graph built here stays valid.
    """
    result: Tensor = _LogFiring.apply(x, centers, precisions, logits, noise, mask, chosen, rate)  # type: ignore[no-untyped-call]
    return result
