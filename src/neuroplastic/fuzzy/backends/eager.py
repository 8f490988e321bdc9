"""Plain PyTorch, on any device, traceable."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from .. import sparse_rows, splitmix
from ..membership import log_membership
from ..precision import wide
from ..selection import bar, greatest
from ..welford import Moments
from . import channels
from .interface import Backend, Chosen, Normed

# On the CPU the attributes are gone through in parts that stay in the cache.
ATTRIBUTES_AT_ONCE = 128


class Eager(Backend):
    """The reference: what the other backends compute faster."""

    name = "eager"

    def serves(self, tensor: Tensor, terms: int) -> bool:
        """Always."""
        return True

    def select(
        self, logits: Tensor, noise: Tensor | None, mask: Tensor, centers: Tensor, precisions: Tensor
    ) -> Chosen:
        """See `Backend`."""
        best = greatest(logits, noise, mask.t().unsqueeze(-1))
        center, precision = (_finite_or_nan(table).gather(1, best.term) for table in (centers, precisions))
        if not best.finite:
            center.masked_fill_(best.score.isnan() | ~mask.any(dim=1, keepdim=True), math.nan)
        return Chosen(best.term.to(torch.uint8 if len(logits) <= 255 else torch.int16), center, precision)

    def distance(self, x: Tensor, center: Tensor, precision: Tensor) -> Tensor:
        """Two matrix products of the expanded square, which cancels, hence the doubles."""
        total = wide(x.new_zeros(len(x), center.shape[1]))
        for rows in _parts(center):
            # Any origin will do; that of a premise which is NaN must not spoil the other rules.
            origin = center[rows].mean(dim=1).nan_to_num(0, 0, 0)
            shifted, offset = wide(x[:, rows] - origin), wide(center[rows] - origin.unsqueeze(1))
            factor = wide(precision[rows])
            weighted = factor * offset
            total = (
                total - shifted.square() @ factor + 2 * (shifted @ weighted) - (weighted * offset).sum(dim=0)
            )
        # torch 2.11 compiles a conversion to the same type at this place into one that has no gradient.
        return total if total.dtype == x.dtype else total.to(x.dtype)

    def gradient(
        self,
        logits: Tensor,
        noise: Tensor | None,
        mask: Tensor,
        term: Tensor,
        centers: Tensor,
        precisions: Tensor,
        moments: tuple[Tensor, Tensor, Tensor],
        rate: float,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Term by term, so that no more than one plane (D, U) is at work."""
        zeroth, first, second = moments
        zeroth = zeroth.expand_as(first)
        # What a missing term's slot holds must not count, even if it is NaN.
        centers, precisions = centers.where(mask, 0), precisions.where(mask, 0)
        grad_logits = torch.empty_like(logits)
        grad_centers, grad_precisions = torch.empty_like(centers), torch.empty_like(precisions)
        for rows in _parts(logits):
            for t in range(logits.shape[0]):
                c, s = centers[rows, t : t + 1], precisions[rows, t : t + 1]
                used = term[rows] == t
                slope = torch.addcmul(first[rows], c, zeroth[rows], value=-1)
                square = torch.addcmul(second[rows], c, first[rows] + slope, value=-1)
                grad_centers[rows, t] = 2 * s.squeeze(1) * slope.mul_(used).sum(dim=1)
                grad_precisions[rows, t] = -torch.mul(square, used, out=slope).sum(dim=1)
                torch.mul(square, -s, out=grad_logits[t, rows])  # of the one-hot choice
            if rate > 0:
                scores = logits[:, rows].clone() if noise is None else logits[:, rows] + noise[:, rows]
                _through_softmax(grad_logits[:, rows], scores, mask[rows], rate)
        return grad_logits, grad_centers, grad_precisions

    def uncovered(
        self, x: Tensor, centers: Tensor, precisions: Tensor, mask: Tensor, limit: float
    ) -> Moments:
        """See `Backend`."""
        covering = mask & (_finite_or_nan(centers) * precisions).isfinite()
        nearest = torch.full_like(x, math.inf)
        for term in range(centers.shape[1]):
            reach = -log_membership(x, centers, precisions, term)
            nearest = torch.minimum(nearest, reach.masked_fill_(~covering[:, term], math.inf))
        return Moments.of(x, nearest > limit)

    def entmax15(self, shifted: Tensor) -> Tensor:
        """See `Backend`."""
        return sparse_rows.entmax15(shifted)

    def uniform(self, seed: int, shape: tuple[int, ...], device: torch.device) -> Tensor:
        """See `Backend`."""
        return splitmix.uniform(seed, shape, device)

    def norm_relu_drop(
        self, rows: Tensor, weight: Tensor, bias: Tensor, dropout: float, eps: float
    ) -> Normed:
        """See `Backend`."""
        width, count = channels.sizes(rows, weight)
        mean = channels.summed(rows.sum(dim=0), width) / count
        centred = rows - mean.repeat(width)
        variance = channels.summed(centred.square().sum(dim=0), width) / count
        scale = torch.rsqrt(variance + eps)
        y = torch.addcmul(bias.repeat(width), centred, (weight * scale).repeat(width)).clamp_min_(0)
        if dropout:
            y.mul_(_keep(rows, dropout))
        return Normed(y, mean, variance, scale, centred, None)

    def norm_relu_drop_gradient(
        self, gradient: Tensor, normed: Normed, weight: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """See `Backend`."""
        width, count = channels.sizes(gradient, weight)
        centred, scale = normed.rows, normed.scale
        # The output is above 0 exactly where ReLU and mask let the gradient pass.
        passed = torch.ops.aten.threshold_backward(gradient, normed.y, 0)
        of_bias = channels.summed(passed.sum(dim=0), width)
        of_weight = channels.summed((passed * centred).sum(dim=0), width) * scale
        slope, lean, shift = channels.input_gradient(weight, scale, of_weight, of_bias, count)
        dx = torch.addcmul(shift.repeat(width), passed, slope.repeat(width))
        return dx.addcmul_(centred, lean.repeat(width)), of_weight, of_bias


def _finite_or_nan(table: Tensor) -> Tensor:
    """The numbers as they are where they are finite, else NaN."""
    return table + (table - table)


def _parts(table: Tensor) -> list[slice]:
    """Slices of the attributes, the last dimension but one, to be worked on one after the other."""
    attributes = table.shape[-2]
    size = ATTRIBUTES_AT_ONCE if table.device.type == "cpu" else attributes
    return [slice(start, start + size) for start in range(0, attributes, size)]


def _through_softmax(grad: Tensor, scores: Tensor, mask: Tensor, rate: float) -> None:
    """Turn the gradient of the one-hot choice into that of the logits, in place: `p (q - sum_t p q) rate`."""
    weight = bar(scores, mask.t().unsqueeze(-1))
    weight.sub_(weight.amax(dim=0)).mul_(rate).exp_()
    weight.div_(weight.sum(dim=0))
    grad.sub_((weight * grad).sum(dim=0)).mul_(weight).mul_(rate)


def _keep(rows: Tensor, dropout: float) -> Tensor:
    """1 to keep a unit, 0 to drop it: a 64-bit draw serves four units."""
    words = torch.empty((rows.numel() + 3) // 4, dtype=torch.int64, device=rows.device).random_(
        -(2**63), None
    )
    # In place on int16: a comparison that gives bool takes ten times as long.
    bits = words.view(torch.int16)[: rows.numel()].ge_(round(dropout * 2**16) - 2**15)
    return bits.to(rows.dtype).view(rows.shape)
