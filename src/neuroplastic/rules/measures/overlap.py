"""How alike two Gaussian sets are: the Jaccard index, in closed form."""

from __future__ import annotations

import math

import torch
from torch import Tensor

_ROOT = math.sqrt(2)


def jaccard(center_a: Tensor, width_a: Tensor, center_b: Tensor, width_b: Tensor) -> Tensor:
    """`integral of min(A, B) / integral of max(A, B)` over all numbers; 1 for equal sets, near 0 for distant ones.

    The narrower set lies above the wider one exactly between the two points where they cross,
    `|x - a| / s = |x - b| / t`; so the smaller of both is the wider one there and the narrower one elsewhere, and
    both parts are values of the error function. Tensors that broadcast, computed in doubles.
    """
    a, s, b, t = (tensor.double() for tensor in (center_a, width_a, center_b, width_b))
    swap = s > t
    a, b = torch.where(swap, b, a), torch.where(swap, a, b)
    s, t = torch.where(swap, t, s), torch.where(swap, s, t)
    between = (a * t + b * s) / (s + t)
    # Widths that are equal cross once; the other point lies at infinity, beyond the narrower set.
    beyond = torch.where(t > s, (a * t - b * s) / (t - s).clamp_min(1e-300), torch.inf * torch.sign(a - b))
    low, high = torch.minimum(between, beyond), torch.maximum(between, beyond)
    inside = t * (_upper((low - b) / t) - _upper((high - b) / t))
    outside = s * (_upper((a - low) / s) + _upper((high - a) / s))
    smaller = torch.where((a == b) & (s == t), s, inside + outside)
    return (smaller / (s + t - smaller)).clamp(0, 1)


def _upper(z: Tensor) -> Tensor:
    """The share of a Gaussian above z deviations, exact far out too."""
    share: Tensor = 0.5 * torch.special.erfc(z / _ROOT)
    return share
