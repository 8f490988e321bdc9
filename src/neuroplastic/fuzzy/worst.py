"""Log-firing by the worst premise: a minimum, or in training a soft one, with straight-through gradients.

With `m[b,d,u] = S (x - C)**2`, minus the log-membership of the chosen set with centre C and precision S, the log-firing
is `w[b,u] = -n`, where n is the p-norm `(sum_d m**p)**(1/p)`, and the greatest m where p is infinite. Backwards premise
d gets the part `a[b,d,u] = g (m / n)**(p - 1)` of the incoming gradient g (of a sum, every premise gets g), and with
the moments of a the gradients are elementwise as they are for the sum: see `log_firing.py`. Attributes are gone
through in parts, so that no tensor (B, D, U) is ever whole.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor

from .backends import Chosen
from .backends.choice import EAGER
from .membership import WIDE_ENOUGH, origin_of
from .once import once_differentiable

# So many numbers of a tensor (B, part of D, U) are at work at once: on the CPU they stay in the cache.
AT_ONCE_ON_CPU, AT_ONCE = 1 << 18, 1 << 24


class _Norm(NamedTuple):
    """The p-norm of each rule's distances, (B, U), and, where p is infinite, the attribute that it is from, or -1."""

    value: Tensor
    place: Tensor


class _Worst(torch.autograd.Function):
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
        power: float,
    ) -> Tensor:
        chosen = _asking(chosen)
        norm = _norm(x, chosen, power)
        ctx.rate, ctx.power = rate, power
        ctx.save_for_backward(x, centers, precisions, logits, noise, mask, *chosen, *norm)
        return norm.value.neg()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        x, centers, precisions, logits, noise, mask, *kept = ctx.saved_tensors
        chosen, norm, origin = Chosen(*kept[:3]), _Norm(*kept[3:]), origin_of(centers, mask)
        shifted = x - origin
        of_x, of_sets = ctx.needs_input_grad[0], any(ctx.needs_input_grad[1:4])
        grad_x = torch.empty_like(x)
        moments = [torch.empty_like(chosen.center) for _ in range(3 if of_sets else 0)]
        for rows in _parts(x, chosen):
            away = x[:, rows].unsqueeze(2) - chosen.center[rows]
            part = _shared(grad, away, chosen.precision[rows], norm, rows, ctx.power)
            for degree, moment in enumerate(moments):
                moment[rows] = torch.einsum("bdu,bd->du", part, shifted[:, rows] ** degree)
            if of_x:
                grad_x[:, rows] = -2 * torch.einsum("bdu,du->bd", part.mul_(away), chosen.precision[rows])
        grad_centers = grad_precisions = grad_logits = None
        if of_sets:
            sets = (centers - origin.unsqueeze(1), precisions)
            zeroth, first, second = moments
            grad_logits, grad_centers, grad_precisions = EAGER.gradient(
                logits, noise, mask, chosen.term, *sets, (zeroth, first, second), ctx.rate
            )
        return (
            grad_x if of_x else None,
            grad_centers,
            grad_precisions,
            grad_logits,
            *(None,) * 5,
        )


def worst_log_firing(
    x: Tensor,
    centers: Tensor,
    precisions: Tensor,
    logits: Tensor,
    noise: Tensor | None,
    mask: Tensor,
    chosen: Chosen,
    *,
    rate: float,
    power: float,
) -> Tensor:
    """Minus the p-norm of the chosen sets' `-log mu` over the attributes, (B, U); the arguments of `log_firing`.

    Power 1 is the sum (Eq. 6), infinity the least log-membership. Where every premise fits fully, no gradient flows
    (but for power 1), and where several are worst, it goes to the first (infinity) or to all (else).
    """
    result: Tensor = _Worst.apply(x, centers, precisions, logits, noise, mask, chosen, rate, power)  # type: ignore[no-untyped-call]
    return result


def settled_worst(x: Tensor, chosen: Chosen, power: float) -> Tensor:
    """The same for a choice that is settled, without gradients, (B, U)."""
    return _norm(x, _asking(chosen), power).value.neg()


def _asking(chosen: Chosen) -> Chosen:
    """The choice with distances of exactly 0 to "any": where all premises ask nothing, none of them is the worst."""
    precision = chosen.precision
    return chosen._replace(precision=precision.masked_fill(precision <= 0.5 / WIDE_ENOUGH**2, 0.0))


def _norm(x: Tensor, chosen: Chosen, power: float) -> _Norm:
    """Part by part: the sum so far is in units of the greatest distance so far, so no power overflows."""
    greatest, total = (x.new_zeros(len(x), chosen.center.shape[1]) for _ in range(2))
    place = torch.full_like(greatest, -1, dtype=torch.int64)
    for rows in _parts(x, chosen):
        away = (x[:, rows].unsqueeze(2) - chosen.center[rows]).square_().mul_(chosen.precision[rows])
        top, first = away.max(dim=1)
        before, greatest = greatest, torch.maximum(greatest, top)
        if power == math.inf:
            place = torch.where(
                top <= before, place, first + rows.start
            )  # NaN is not below, so it has a place
            continue
        unit = _above_zero(greatest)
        total = total * (before / unit).pow_(power) + away.div_(unit.unsqueeze(1)).pow_(power).sum(dim=1)
    return _Norm(greatest if power == math.inf else greatest * total.pow_(1 / power), place)


def _shared(grad: Tensor, away: Tensor, precision: Tensor, norm: _Norm, rows: slice, power: float) -> Tensor:
    """What each premise of a part of the attributes gets of the gradient (B, U) of a rule's log-firing, (B, d, U)."""
    if power == math.inf:
        own = torch.arange(rows.start, rows.start + away.shape[1], device=grad.device)
        return grad.unsqueeze(1) * (norm.place.unsqueeze(1) == own.unsqueeze(1))
    distance = away.square().mul_(precision)
    return distance.div_(_above_zero(norm.value).unsqueeze(1)).pow_(power - 1).mul_(grad.unsqueeze(1))


def _above_zero(tensor: Tensor) -> Tensor:
    """What to divide by: the least normal number instead of 0; NaN stays."""
    return tensor.clamp_min(torch.finfo(tensor.dtype).tiny)


def _parts(x: Tensor, chosen: Chosen) -> Iterator[slice]:
    """Slices of the attributes, as many at once as there is room for."""
    attributes, rules = chosen.center.shape
    size = max((AT_ONCE_ON_CPU if x.is_cpu else AT_ONCE) // max(len(x) * rules, 1), 1)
    for start in range(0, attributes, size):
        yield slice(start, start + size)
