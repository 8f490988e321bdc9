"""Two tiny deterministic tasks in pure NumPy, for whoever needs something to play: pictures and vectors.

Importing this module makes them known by name: `catalog.kind("task", "catch")` and `"corridor"`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from neuroplastic import catalog
from neuroplastic.errors import ConfigError, at_least
from neuroplastic.experiment.protocols import Score
from neuroplastic.learn.episodes import Stream, episode_seed
from neuroplastic.network.observation import Observation

if TYPE_CHECKING:
    from neuroplastic.experiment.configuration import RunConfig

FRAMES_PER_SECOND = 10


class SmallGame:
    """What the two games share: numbered episodes, refused actions, frames since the last look."""

    actions = 0

    def __init__(self, seed: int, stream: Stream, *, film: bool) -> None:
        self.metadata = {"render_fps": FRAMES_PER_SECOND}
        self.seed, self.stream, self.film = at_least("seed", seed, 0), stream, film
        self.episode, self.over, self.closed = -1, True, False
        self._frames: list[NDArray[np.uint8]] = []

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):
        """Start the episode `options["episode"]`, or the next; a seed given here restarts the count."""
        if seed is not None:
            self.seed, self.episode = seed, -1
        self.episode = at_least("episode", (options or {}).get("episode", self.episode + 1), 0)
        self.over = False
        self._frames = []
        self.start(np.random.default_rng(episode_seed(self.seed, self.episode, stream=self.stream)))
        return self._seen(), {}

    def step(self, action: int):
        if self.over or self.closed:
            raise RuntimeError("call reset() before step()")
        if not 0 <= action < self.actions:
            raise ConfigError(f"action must be at least 0 and below {self.actions}, got {action}")
        reward, terminated, truncated = self.move(int(action))
        self.over = terminated or truncated
        return self._seen(), reward, terminated, truncated, {}

    def render(self) -> list[NDArray[np.uint8]]:
        frames, self._frames = self._frames, []
        return frames

    def close(self) -> None:
        self.closed = True

    def _seen(self):
        if self.film:
            self._frames.append(self.frame())
        return self.look()

    def start(self, generator: np.random.Generator) -> None:
        raise NotImplementedError

    def move(self, action: int) -> tuple[float, bool, bool]:
        raise NotImplementedError

    def look(self) -> np.ndarray:
        raise NotImplementedError

    def frame(self) -> NDArray[np.uint8]:
        raise NotImplementedError


class Catch(SmallGame):
    """A red ball falls in one of `cells` columns; the green paddle below moves left, stays or moves right.

    The only reward comes when the ball reaches the bottom: 1 if the paddle is under it, else -1.
    """

    actions = 3

    def __init__(self, task: CatchTask, seed: int, stream: Stream, *, film: bool) -> None:
        super().__init__(seed, stream, film=film)
        self.side, self.cells = task.side, task.cells

    def start(self, generator: np.random.Generator) -> None:
        self._row = 0
        self._column, self._paddle = (int(place) for place in generator.integers(self.cells, size=2))

    def move(self, action: int) -> tuple[float, bool, bool]:
        self._paddle = min(max(self._paddle + action - 1, 0), self.cells - 1)
        self._row += 1
        over = self._row == self.cells - 1
        return (1.0 if self._paddle == self._column else -1.0) if over else 0.0, over, False

    def look(self) -> NDArray[np.uint8]:
        picture = np.zeros((self.side, self.side, 3), np.uint8)
        size = self.side // self.cells
        for row, column, channel in ((self._row, self._column, 0), (self.cells - 1, self._paddle, 1)):
            picture[row * size : (row + 1) * size, column * size : (column + 1) * size, channel] = 255
        return picture

    frame = look


class Corridor(SmallGame):
    """Somebody stands in a corridor of `cells` cells and walks left or right; the door is at one of its ends.

    Reaching the door pays 1 and ends the episode; every step costs 0.1; after `limit` steps it is cut short.
    """

    actions = 2

    def __init__(self, task: CorridorTask, seed: int, stream: Stream, *, film: bool) -> None:
        super().__init__(seed, stream, film=film)
        self.cells, self.limit = task.cells, task.limit

    def start(self, generator: np.random.Generator) -> None:
        self._time = 0
        self._door = int(generator.integers(2)) * (self.cells - 1)
        self._place = int(generator.integers(1, self.cells - 1))
        self._light = float(generator.random())

    def move(self, action: int) -> tuple[float, bool, bool]:
        self._time += 1
        self._place = min(max(self._place + 2 * action - 1, 0), self.cells - 1)
        there = self._place == self._door
        return (1.0 if there else 0.0) - 0.1, there, not there and self._time == self.limit

    def look(self) -> NDArray[np.float32]:
        scale = self.cells - 1
        return np.array([self._place / scale, self._door / scale, self._light], np.float32)

    def frame(self) -> NDArray[np.uint8]:
        picture = np.zeros((9, 9 * self.cells, 3), np.uint8)
        for cell, channel in ((self._place, 0), (self._door, 1)):
            picture[:, 9 * cell : 9 * (cell + 1), channel] = 255
        return picture


class _WithPresets:
    """Both games bring the configurations of small Gymnasium environments."""

    presets: ClassVar[tuple[str, ...]] = ("standard",)

    def preset(self, name: str, agent: str, learner: str | None = None) -> RunConfig:
        from neuroplastic.gym.presets import preset  # which needs PyTorch, and workers that play do not

        return preset(name, self, agent, learner)


@dataclass(frozen=True)
class CatchTask(_WithPresets):
    """`Catch` in pictures (side, side, 3)."""

    side: int = 12
    """how wide and high pictures are"""
    cells: int = 4
    """columns and rows that the ball falls through"""

    key = "catch"
    title = "Catch the ball"
    actions = ("left", "stay", "right")
    mirrored_actions = (2, 1, 0)
    scores: ClassVar[Mapping[str, Score]] = {}

    def __post_init__(self) -> None:
        at_least("cells", self.cells, 2)
        at_least("side", self.side, self.cells)

    @property
    def observation(self) -> Observation:
        return Observation((self.side, self.side, 3))

    def environment(self, *, seed: int = 0, stream: Stream = "training", film: bool = False) -> Catch:
        return Catch(self, seed, stream, film=film)


@dataclass(frozen=True)
class CorridorTask(_WithPresets):
    """`Corridor` in three attributes; the last, how bright it is, does not matter."""

    cells: int = 5
    """how long the corridor is"""
    limit: int = 8
    """steps after which an episode is cut short"""

    key = "corridor"
    title = "Find the door"
    actions = ("left", "right")
    mirrored_actions = None
    scores: ClassVar[Mapping[str, Score]] = {"whoever sees the door": Score(0.8)}

    def __post_init__(self) -> None:
        at_least("cells", self.cells, 3)
        at_least("limit", self.limit, 1)

    @property
    def observation(self) -> Observation:
        return Observation((3,), ("place", "door", "light"), (0.0, 0.0, 0.0), (1.0, 1.0, 1.0))

    def environment(self, *, seed: int = 0, stream: Stream = "training", film: bool = False) -> Corridor:
        return Corridor(self, seed, stream, film=film)


catalog.register("task", "catch", CatchTask)
catalog.register("task", "corridor", CorridorTask)


def find(name: str) -> CatchTask | CorridorTask | None:
    """The games by the names `tests.small_game:catch` and `tests.small_game:corridor`."""
    return {f"{__name__}:{task.key}": task for task in (CatchTask(), CorridorTask())}.get(name)
