"""Rows of a table in a form that does not depend on their order, on repetition, or on the columns' units."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError

Numbers = NDArray[np.float64]

# A column whose deviation is below this share of its magnitude varies by rounding alone: it counts as constant.
ROUNDING = 1e-12
# Weights count rows. Of so few or so many, single precision makes nothing, or what is not finite.
LEAST_WEIGHT, MOST_WEIGHT = 1e-12, 1e18


@dataclass(frozen=True)
class Rows:
    """Distinct rows in a fixed order, with their weights.

    A row of weight 2 and the same row twice are one and the same thing here, and a row of weight 0 is not here at
    all: what is learned of rows keeps those laws exactly.
    """

    x: Numbers
    """(N, D)"""
    y: Numbers
    """(N, O): targets, or the number of the class in one column"""
    weight: Numbers
    """(N,), all above 0"""
    often: Numbers | None = None
    """(N,): how often each row is there, where classes weigh more or less than their rows; None: as it weighs"""

    @classmethod
    def of(cls, x: Numbers, y: Numbers, weight: Numbers, often: Numbers | None = None) -> Rows:
        """Drop rows of weight 0, sort the others, and merge equal ones."""
        present = weight > 0
        often = weight if often is None else often
        x, y, weight, often = x[present], y[present], weight[present], often[present]
        together = np.concatenate([x, y], axis=1) + 0.0  # turns -0.0 into 0.0
        distinct, place = np.unique(together, axis=0, return_inverse=True)
        merged, counted = (
            np.bincount(place.reshape(-1), summed, minlength=len(distinct)).astype(np.float64)
            for summed in (weight, often)
        )
        columns = x.shape[1]
        return cls(distinct[:, :columns], distinct[:, columns:], merged, counted)

    def __len__(self) -> int:
        return len(self.x)

    def check_weight(self) -> None:
        """Raise an InputError where the weights add up to next to nothing, or to more than is computed with."""
        with np.errstate(over="ignore"):
            total = float(self.weight.sum())
        if len(self) and not LEAST_WEIGHT <= total <= MOST_WEIGHT:
            raise InputError(
                f"weights of rows and classes must add up to between {LEAST_WEIGHT:g} and {MOST_WEIGHT:g} rows, got "
                f"{total:g}; divide them by their mean"
            )

    def part(self, index: NDArray[np.int64]) -> Rows:
        """Some of the rows."""
        often = None if self.often is None else self.often[index]
        return Rows(self.x[index], self.y[index], self.weight[index], often)


def location_and_scale(values: Numbers, weight: Numbers) -> tuple[Numbers, Numbers]:
    """Weighted mean and deviation of each column of (N, D); the scale of a constant column is 1."""
    share = weight / weight.sum()
    with np.errstate(over="ignore", invalid="ignore"):
        mean = share @ values
        deviation = np.sqrt(share @ np.square(values - mean))
    if not (np.isfinite(mean).all() and np.isfinite(deviation).all()):
        column = int(np.flatnonzero(~(np.isfinite(mean) & np.isfinite(deviation)))[0])
        raise InputError(f"values of column {column} are too large to be squared; use larger units")
    varies = deviation > ROUNDING * np.abs(values).max(axis=0)
    return mean, np.where(varies, deviation, 1.0)


def quantiles(values: Numbers, weight: Numbers, levels: Numbers) -> Numbers:
    """Weighted quantiles of a column (N,): the level of a value is the weight below it and half of its own."""
    order = np.argsort(values, kind="stable")
    weight = weight[order]
    at = (np.cumsum(weight) - weight / 2) / weight.sum()
    return np.interp(levels, at, values[order])
