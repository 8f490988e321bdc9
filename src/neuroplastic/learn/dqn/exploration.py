"""How often a learner acts at random, and what it does then."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..teaching import NO_ADVICE


class Exploration:
    """Rate of random actions: `start`, times `decay` after each training step, never below `floor`.

    The paper's 1, 0.9999 and 0.1 leave the rate at 0.61 after 5,000 steps. A share of these actions, `advised`, is
    what the game advises instead.
    """

    def __init__(
        self, start: float = 1.0, decay: float = 0.9999, floor: float = 0.1, *, advised: float = 0.0
    ) -> None:
        self.rate, self.advised = start, advised
        self.decay = decay
        self.floor = floor

    def is_random(self, generator: np.random.Generator) -> bool:
        """Draw whether the next action is random."""
        return bool(generator.random() < self.rate)

    def action(self, actions: int, advice: int, generator: np.random.Generator) -> int | None:
        """A random action of so many, or the advice; None: the best is to be done, also for want of advice."""
        if not self.is_random(generator):
            return None
        if self.advised and generator.random() < self.advised:
            return None if advice == NO_ADVICE else advice
        return int(generator.integers(actions))

    def step(self) -> None:
        """Lower the rate, after a training step."""
        # A start below the floor stays where it is: the floor stops the decay, it does not raise the rate.
        self.rate = max(min(self.floor, self.rate), self.rate * self.decay)

    def state_dict(self) -> dict[str, float]:
        """The rate now."""
        return {"rate": self.rate}

    def load_state_dict(self, state: Mapping[str, float]) -> None:
        """Go on from a saved rate."""
        self.rate = state["rate"]
