"""Running mean and variance per attribute, merged batch by batch (Welford; Chan for the merge)."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Moments(NamedTuple):
    """How many values, their mean and their sum of squared deviations, each of shape (D,)."""

    count: Tensor  # type: ignore[assignment]  # a tuple's own `count` is of no use here
    mean: Tensor
    m2: Tensor

    @classmethod
    def of(cls, values: Tensor, included: Tensor) -> Moments:
        """Moments over dim 0 of the `values` (B, D) that `included` (B, D) marks."""
        weight = included.to(values.dtype)
        count = weight.sum(dim=0)
        # Not times the weight: what is left out may be NaN.
        mean = values.where(included, 0).sum(dim=0) / count.clamp_min(1)
        m2 = (values - mean).where(included, 0).square().sum(dim=0)
        return cls(count, mean, m2)

    def merged(self, other: Moments) -> Moments:
        """Moments of both collections together."""
        count = self.count + other.count
        delta = other.mean - self.mean
        share = other.count / count.clamp_min(1)
        return Moments(
            count, self.mean + delta * share, self.m2 + other.m2 + delta.square() * self.count * share
        )

    def deviation(self) -> Tensor:
        """Population standard deviation; 0 where nothing was counted."""
        return torch.sqrt(self.m2 / self.count.clamp_min(1))
