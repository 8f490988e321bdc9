"""How often a learner acts at random, and what it does then."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

NONE, ADVISED = -1, -2
"""Drawn in place of an action: do the best, or what the game advises."""


class Exploration:
    """Rate of random actions: `start`, times `decay` after each training step, never below `floor`.

    The paper's 1, 0.9999 and 0.1 leave the rate at 0.61 after 5,000 steps. A share of these actions, `advised`, is
    what the game advises instead. What is drawn, a random action or to do the best, holds for `hold` steps.
    """

    def __init__(
        self,
        start: float = 1.0,
        decay: float = 0.9999,
        floor: float = 0.1,
        *,
        advised: float = 0.0,
        hold: int = 1,
    ) -> None:
        self.rate, self.advised, self.hold = start, advised, hold
        self.decay = decay
        self.floor = floor
        self._drawn = NONE
        self._left = 0  # steps that it still holds for

    def is_random(self, generator: np.random.Generator) -> bool:
        """Draw whether the next action is random."""
        return bool(generator.random() < self.rate)

    def action(self, actions: int, advice: int, generator: np.random.Generator) -> int | None:
        """A random action of so many, or the advice; None: the best is to be done, also for want of advice."""
        if not self._left:
            self._drawn, self._left = self._draw(actions, generator), self.hold
        self._left -= 1
        wanted = advice if self._drawn == ADVISED else self._drawn
        return None if wanted < 0 else wanted

    def _draw(self, actions: int, generator: np.random.Generator) -> int:
        if not self.is_random(generator):
            return NONE
        if self.advised and generator.random() < self.advised:
            return ADVISED
        return int(generator.integers(actions))

    def step(self) -> None:
        """Lower the rate, after a training step."""
        # A start below the floor stays where it is: the floor stops the decay, it does not raise the rate.
        self.rate = max(min(self.floor, self.rate), self.rate * self.decay)

    def state_dict(self) -> dict[str, Any]:
        """The rate now, and what holds."""
        return {"rate": self.rate, "drawn": self._drawn, "left": self._left}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a saved state; in earlier ones nothing holds."""
        self.rate = state["rate"]
        self._drawn, self._left = state.get("drawn", NONE), state.get("left", 0)
