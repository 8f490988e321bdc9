"""What a teacher would do, state by state, and what it would cost to do something else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError

Numbers = NDArray[np.float64]
# A state in which all actions are worth the same still counts so much, beside a mean of 1.
LEAST_WEIGHT = 0.1


@dataclass(frozen=True, eq=False)
class Demonstrations:
    """States as the student sees them, (N, D), and the teacher's actions (N,)."""

    attributes: NDArray[np.float32]
    actions: NDArray[np.int64]
    costs: Numbers
    """(N,): what the worst action is worth less than the teacher's; 1 where that is not known"""

    def __post_init__(self) -> None:
        counts = {len(self.attributes), len(self.actions), len(self.costs)}
        if len(counts) != 1 or self.attributes.ndim != 2:
            raise InputError(
                f"demonstrations must have as many actions and costs as states (N, D), got {self.attributes.shape}, "
                f"{self.actions.shape} and {self.costs.shape}"
            )

    def __len__(self) -> int:
        return len(self.actions)

    @classmethod
    def joined(cls, parts: Sequence[Demonstrations]) -> Demonstrations:
        """All of them, in order."""
        return cls(
            np.concatenate([part.attributes for part in parts]),
            np.concatenate([part.actions for part in parts]),
            np.concatenate([part.costs for part in parts]),
        )

    def agreement_with(self, taken: NDArray[np.int64], *, costs: bool) -> float:
        """The share of states in which these actions (N,) are the teacher's; with `costs`, states count by theirs."""
        counts = self.costs if costs and self.costs.sum() > 0 else np.ones(len(self))
        return float(np.average(taken == self.actions, weights=counts))

    def weights(self, *, costs: bool) -> Numbers:
        """How much each state counts, (N,), 1 on average; without `costs`, all the same."""
        mean = float(self.costs.mean())
        if not costs or not mean > 0:
            return np.ones(len(self))
        weights: Numbers = np.maximum(self.costs / mean, LEAST_WEIGHT)
        normal: Numbers = weights / weights.mean()
        return normal


def costs_of(values: Numbers) -> Numbers:
    """Of action values (N, A), what the worst action is worth less than the best, (N,): VIPER's weights."""
    costs: Numbers = values.max(axis=1) - values.min(axis=1)
    return costs
