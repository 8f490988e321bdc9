"""What stands behind each rule: how many rows of training it leads, and what they turned out to be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import ConfigError

Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Evidence:
    """Rows of training by the rule that leads on them, which is the one that fires most. Arrays are read-only."""

    cases: Numbers
    """(U,): rows that each rule leads, repeated ones and those with a sample weight as often as they count;
    what a class weighs is left out"""
    shares: Numbers
    """(U, O): of a classifier the share of each class among those cases, of a regressor the mean of the targets; 0
    of a rule that leads nowhere"""
    rows: float
    """all rows"""

    def __post_init__(self) -> None:
        for name, array, dimensions in (("cases", self.cases, 1), ("shares", self.shares, 2)):
            if array.ndim != dimensions or not np.isfinite(array).all():
                raise ConfigError(
                    f"{name} of the evidence must be finite and have {dimensions} dimensions, got {array.shape}"
                )
            array.setflags(write=False)
        if len(self.cases) != len(self.shares) or (self.cases < 0).any():
            raise ConfigError(
                f"evidence must have cases of at least 0 and a row of shares for each rule, got {len(self.cases)} "
                f"cases and {len(self.shares)} rows"
            )
        if not np.isfinite(self.rows) or self.rows < 0:
            raise ConfigError(f"rows of the evidence must be a number of at least 0, got {self.rows!r}")

    def together(self, groups: Sequence[Sequence[int]]) -> Evidence:
        """The cases of each group of rules at its first rule, and none at the others."""
        cases, shares = self.cases.copy(), self.shares.copy()
        for first, *others in groups:
            members = [first, *others]
            cases[first] = self.cases[members].sum()
            if others and cases[first] > 0:
                shares[first] = self.cases[members] @ self.shares[members] / cases[first]
            cases[others] = shares[others] = 0.0
        return Evidence(cases, shares, self.rows)

    @classmethod
    def of(cls, leaders: NDArray[np.int64], targets: Numbers, weight: Numbers, rules: int) -> Evidence:
        """From the rule that leads on each row (N,), its targets (N, O), one-hot for classes, and its weight (N,)."""
        cases = np.bincount(leaders, weight, minlength=rules).astype(np.float64)
        sums = np.stack(
            [np.bincount(leaders, weight * column, minlength=rules) for column in targets.T], axis=1
        )
        return cls(cases, sums / np.where(cases > 0, cases, 1.0)[:, None], float(weight.sum()))
