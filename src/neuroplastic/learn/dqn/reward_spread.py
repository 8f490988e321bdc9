"""Rewards brought to one scale by what returns of the past differed by."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch


class RewardSpread:
    """One over the standard deviation of discounted returns so far, in a tensor that stays in place.

    The return is summed backwards, from an episode's first reward on; so each step gives one without waiting for the
    episode's end. 1 before returns differ.
    """

    def __init__(self, discount: float, device: torch.device) -> None:
        self._discount = discount
        self._count, self._mean, self._m2, self._return = 0, 0.0, 0.0, 0.0
        self.factor = torch.ones((), device=device)

    def see(self, reward: float, *, ended: bool) -> None:
        """Take in a step's reward."""
        self._return = reward + self._discount * self._return
        self._count += 1
        away = self._return - self._mean
        self._mean += away / self._count
        self._m2 += away * (self._return - self._mean)
        if ended:
            self._return = 0.0
        self._tell()

    def _tell(self) -> None:
        deviation = math.sqrt(self._m2 / max(1, self._count))
        self.factor.fill_(1 / deviation if deviation > 0 else 1.0)

    def state_dict(self) -> dict[str, Any]:
        """What was seen."""
        return {"count": self._count, "mean": self._mean, "m2": self._m2, "return": self._return}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where `state_dict` was taken."""
        self._count, self._mean = state["count"], state["mean"]
        self._m2, self._return = state["m2"], state["return"]
        self._tell()
