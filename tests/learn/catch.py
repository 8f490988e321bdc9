"""A tiny game in pictures, to see in seconds whether an agent learns at all. Needs Gymnasium."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from neuroplastic.errors import at_least
from neuroplastic.learn import episode_seed

_SIDE = 84


class Catch(gymnasium.Env[NDArray[np.uint8], np.int64]):
    """A red ball falls in one of `cells` columns; the green paddle below moves left, stays or moves right.

    Pictures are (84, 84, 3) uint8. The only reward comes when the ball reaches the bottom: 1 if the paddle
    is under it, else -1; random play scores about -0.5. An episode is a function of `seed` and
    its number alone (`reset(options={"episode": k})`; without it, episodes count up).
    """

    def __init__(self, seed: int = 0, cells: int = 4) -> None:
        self.seed = at_least("seed", seed, 0)
        self.cells = at_least("cells", cells, 2)
        self.action_space = gymnasium.spaces.Discrete(3)  # type: ignore[assignment]
        self.observation_space = gymnasium.spaces.Box(0, 255, (_SIDE, _SIDE, 3), np.uint8)
        self._next_episode = 0
        self._row = self._column = self._paddle = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.uint8], dict[str, Any]]:
        """Start the episode `options["episode"]`, or the next; a seed given here restarts the count."""
        super().reset(seed=seed)
        if seed is not None:
            self.seed, self._next_episode = seed, 0
        episode = (options or {}).get("episode", self._next_episode)
        self._next_episode = episode + 1
        generator = np.random.default_rng(episode_seed(self.seed, episode))
        self._row = 0
        self._column, self._paddle = (int(place) for place in generator.integers(self.cells, size=2))
        return self._picture(), {"episode": episode}

    def step(self, action: np.int64) -> tuple[NDArray[np.uint8], float, bool, bool, dict[str, Any]]:
        """Move the paddle by -1, 0 or 1 and let the ball fall by one row."""
        self._paddle = min(max(self._paddle + int(action) - 1, 0), self.cells - 1)
        self._row += 1
        over = self._row == self.cells - 1
        reward = (1.0 if self._paddle == self._column else -1.0) if over else 0.0
        return self._picture(), reward, over, False, {}

    def _picture(self) -> NDArray[np.uint8]:
        picture = np.zeros((_SIDE, _SIDE, 3), np.uint8)
        size = _SIDE // self.cells
        for row, column, channel in ((self._row, self._column, 0), (self.cells - 1, self._paddle, 1)):
            picture[row * size : (row + 1) * size, column * size : (column + 1) * size, channel] = 255
        return picture
