"""A corridor: the plainest game with a delayed reward, as a vector or as a picture. Needs NumPy alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from neuroplastic.learn import episode_seed

CELLS = 5
ACTIONS = 2
MIRRORED = (1, 0)


class Corridor:
    """A walker goes left (0) or right (1); one end of the corridor pays 1, the other -1, and which is shown.

    After `most` steps an episode is cut short. Observed are the walker's cell and the end that pays: a vector
    (float32, CELLS + 1) or a picture (uint8, (2, CELLS, 1)). Left and right look and pay alike in a mirror.
    """

    def __init__(self, *, pictures: bool, seed: int = 0, most: int = 6) -> None:
        self.pictures, self.seed, self.most = pictures, seed, most
        self.walker = self.goal = self.time = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict]:
        assert options is not None
        generator = np.random.default_rng(episode_seed(self.seed, options["episode"]))
        self.walker = int(generator.integers(1, CELLS - 1))
        self.goal = int(generator.integers(2)) * (CELLS - 1)
        self.time = 0
        return self._seen(), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict]:
        self.walker += 2 * int(action) - 1
        self.time += 1
        over = self.walker in (0, CELLS - 1)
        reward = (1.0 if self.walker == self.goal else -1.0) if over else 0.0
        return self._seen(), reward, over, not over and self.time >= self.most, {}

    def _seen(self) -> np.ndarray:
        if self.pictures:
            picture = np.zeros((2, CELLS, 1), np.uint8)
            picture[0, self.walker] = picture[1, self.goal] = 255
            return picture
        return np.append(np.arange(CELLS) == self.walker, self.goal > 0).astype(np.float32)
