"""Rewards brought to one scale by what returns of the past differed by."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch


class RewardSpread:
    """One over the standard deviation of G so far, in a tensor that stays in place; 1 before G differs.

    G_t = r_t + discount * G_(t-1) starts anew with each episode: it needs no rewards to come, and differs as returns
    do. The discount is the one a run begins with.
    """

    def __init__(self, discount: float, device: torch.device) -> None:
        self._discount = discount
        self._count, self._mean, self._m2, self._sum = 0, 0.0, 0.0, 0.0
        self.factor = torch.ones((), device=device)

    def begin_episode(self) -> None:
        """What comes now is not of the episode before."""
        self._sum = 0.0

    def see(self, reward: float, *, ended: bool) -> None:
        """Take in a step's reward."""
        self._sum = reward + self._discount * self._sum
        self._count += 1
        away = self._sum - self._mean
        self._mean += away / self._count
        self._m2 += away * (self._sum - self._mean)
        if ended:
            self.begin_episode()
        self._tell()

    def _tell(self) -> None:
        deviation = math.sqrt(self._m2 / max(1, self._count))
        self.factor.fill_(1 / deviation if deviation > 0 else 1.0)

    def state_dict(self) -> dict[str, Any]:
        """What was seen."""
        return {"count": self._count, "mean": self._mean, "m2": self._m2, "sum": self._sum}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where `state_dict` was taken."""
        self._count, self._mean = state["count"], state["mean"]
        self._m2, self._sum = state["m2"], state["sum"]
        self._tell()
