"""Random actions of many games at once: how often, which, and for how long."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...errors import ConfigError
from ..seeding import RandomStreams

if TYPE_CHECKING:
    from .config import ParallelQConfig

NONE = -1
"""In place of a random action: the best is done. In place of advice: the game gives none."""
ADVISED = -2
"""Drawn in place of an action: do what the game advises."""

ALL = slice(None)


class RandomActions:
    """One for each of G games that explores, held for a while, and what the games would do themselves."""

    def __init__(self, config: ParallelQConfig, actions: int, streams: RandomStreams) -> None:
        self._config, self._actions, self._streams = config, actions, streams
        self._games = config.training_games
        self._weights = _shares(config.exploration_weights, actions)
        self._drawn = np.full(self._games, NONE)
        self._advice = np.full(self._games, NONE)

    def rate(self, steps: int, total_steps: int) -> float:
        """How often the game that explores most acts at random after so many of all decisions."""
        falls_over = self._config.exploration_share * total_steps
        fallen = 1.0 if steps >= falls_over else steps / falls_over
        return (1 - fallen) * self._config.exploration_start + fallen * self._config.exploration_floor

    def renew(self, steps: int, total_steps: int) -> None:
        """Draw them anew, if it is time after so many of all decisions."""
        if steps // self._games % self._config.exploration_hold == 0:
            self._drawn = self._draw(self.rate(steps, total_steps))

    def advice(self, games: slice = ALL) -> NDArray[np.int64]:
        """What some games would do now, (k,); NONE where they do not say."""
        return self._advice[games]

    def advise(self, advice: NDArray[np.int64] | None, games: slice = ALL) -> None:
        """Note what some games would do next, (k,); None: they were not asked."""
        if advice is not None:
            self._advice[games] = advice

    def forget_advice(self, game: int) -> None:
        """Another observation is at hand in a game than the one that it gave advice upon."""
        self._advice[game] = NONE

    def chosen(self, best: NDArray[np.int64], games: slice = ALL) -> NDArray[np.int64]:
        """What some games do (k,): what was drawn, or is advised if that was drawn; else, or unadvised, the best."""
        drawn = self._drawn[games]
        wanted = np.where(drawn == ADVISED, self._advice[games], drawn)
        return np.where(wanted < 0, best, wanted)

    def state_dict(self) -> dict[str, Any]:
        """What is held, as JSON can hold it."""
        return {"drawn": self._drawn.tolist(), "advice": self._advice.tolist()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Hold what `state_dict` gave; earlier states have none of it: they held no action, and knew no advice."""
        self._drawn = np.array(state.get("drawn", [NONE] * self._games))
        self._advice = np.array(state.get("advice", [NONE] * self._games))

    def _draw(self, rate: float) -> NDArray[np.int64]:
        """A random action for each game that explores, (G,); NONE for the others."""
        spread = 1 + self._config.exploration_spread * np.linspace(0.0, 1.0, self._games)
        random = self._streams.exploration
        explores = random.random(self._games) < rate**spread
        if self._weights is None:
            drawn = random.integers(self._actions, size=self._games)
        else:
            drawn = random.choice(self._actions, size=self._games, p=self._weights)
        if self._config.exploration_advised:
            advised = random.random(self._games) < self._config.exploration_advised
            drawn = np.where(advised, ADVISED, drawn)
        return np.where(explores, drawn, NONE)


def _shares(weights: tuple[float, ...], actions: int) -> NDArray[np.float64] | None:
    """The probability of each action where one is drawn; None: all alike."""
    if not weights:
        return None
    if len(weights) != actions:
        raise ConfigError(
            f"exploration_weights must be one for each of {actions} actions, got {len(weights)}"
        )
    return np.array(weights) / sum(weights)
