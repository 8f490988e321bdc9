"""A Gymnasium environment as a task."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..errors import ConfigError, MissingPackageError, at_least, at_most
from ..experiment.protocols import Score
from ..learn.episodes import Stream
from ..network.observation import Observation
from .names import ACTIONS, ATTRIBUTES, fitting

if TYPE_CHECKING:
    from ..experiment.configuration import RunConfig
    from .environment import GymEnvironment

_VERSIONED = re.compile(r"-v\d+$")  # as the ids of environments end


MOST_FRAMES = 1000
"""Of a stack: each is a copy of all attributes, in every observation and name."""


@dataclass(frozen=True)
class GymTask:
    """One environment by its id, with observations that are vectors or pictures and actions 0 to n - 1.

    What it shows and takes is asked of the environment itself when it is first needed, and kept with the object.
    """

    environment_id: str = field(metadata={"identity": True})
    frame_stack: int = field(
        default=1, metadata={"help": "how many observations, the newest last, are seen at once"}
    )
    names: tuple[str, ...] = field(
        default=(),
        metadata={"help": "names of the attributes, with commas between (default: known ones, or x1, x2)"},
    )

    def __post_init__(self) -> None:
        if not isinstance(self.environment_id, str) or not self.environment_id:
            raise ConfigError(
                f"an environment's id must be text such as 'CartPole-v1', got {self.environment_id!r}"
            )
        at_most("frame_stack", at_least("frame_stack", self.frame_stack, 1), MOST_FRAMES)

    @property
    def key(self) -> str:
        """The environment's id."""
        return self.environment_id

    @property
    def title(self) -> str:
        """The environment's id."""
        return self.environment_id

    @cached_property
    def _spaces(self) -> Spaces:
        from .environment import spaces_of

        return spaces_of(self.environment_id)

    @property
    def observation(self) -> Observation:
        """A vector of named attributes, or a picture; frames of a stack follow each other, the newest last."""
        shape, low, high = self._spaces.shape, self._spaces.low, self._spaces.high
        if len(shape) == 3:
            if self.names:
                raise ConfigError(f"--names is for vectors, {self.key} shows pictures {shape}; leave it out")
            return Observation((shape[0], shape[1], shape[2] * self.frame_stack))
        names = self.names or fitting(ATTRIBUTES, self.key, shape[0])
        names = names or tuple(f"x{number + 1}" for number in range(shape[0]))
        if len(names) != shape[0]:
            raise ConfigError(f"--names must name the {shape[0]} attributes of {self.key}, got {len(names)}")
        stacked = [
            name if back == 0 else f"{name} {back} before"
            for back in reversed(range(self.frame_stack))
            for name in names
        ]
        count = self.frame_stack
        return Observation((shape[0] * count,), tuple(stacked), low * count, high * count)

    @property
    def actions(self) -> tuple[str, ...]:
        """What each action does, where that is known; else action 0, action 1, ..."""
        count = self._spaces.actions
        return fitting(ACTIONS, self.key, count) or tuple(f"action {number}" for number in range(count))

    @property
    def mirrored_actions(self) -> None:
        """Not known."""

    @property
    def scores(self) -> Mapping[str, Score]:
        """What Gymnasium counts as solved, where it says so."""
        threshold = self._spaces.solved_at
        return {} if threshold is None else {"solved at": Score(threshold)}

    @property
    def presets(self) -> tuple[str, ...]:
        """Settings that do well on small environments; and of vectors, few rules that can be read and decide."""
        return ("standard",) if len(self._spaces.shape) == 3 else ("standard", "readable")

    def preset(self, name: str, agent: str, learner: str | None = None) -> RunConfig:
        """See `Task`."""
        from .presets import preset

        return preset(name, self, agent, learner)

    def environment(
        self, *, seed: int = 0, stream: Stream = "training", film: bool = False
    ) -> GymEnvironment:
        """See `Task`."""
        from .environment import GymEnvironment

        return GymEnvironment(self.environment_id, self.frame_stack, seed=seed, stream=stream, film=film)


@dataclass(frozen=True)
class Spaces:
    """What an environment shows and takes."""

    shape: tuple[int, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    actions: int
    solved_at: float | None

    def __post_init__(self) -> None:
        if any(math.isnan(bound) for bound in (*self.low, *self.high)):
            raise ConfigError("an environment's bounds must be numbers")


def find(name: str) -> GymTask | None:
    """The task of an environment's id; None where Gymnasium knows none of that name."""
    try:
        import gymnasium
    except ImportError as error:
        if _VERSIONED.search(name) is None:
            return None
        raise MissingPackageError(
            f"the task {name!r:.80} needs Gymnasium: pip install 'neuroplastic[gym]'"
        ) from error
    # Of `module:id` the module has been imported, and registered it.
    return GymTask(name) if name.rpartition(":")[2] in gymnasium.registry else None


def suggestions() -> list[str]:
    """Ids that could be meant."""
    try:
        import gymnasium
    except ImportError:
        return []
    return sorted(gymnasium.registry)


def need_gymnasium() -> Any:
    """Gymnasium, or a MissingPackageError that names the extra."""
    try:
        import gymnasium
    except ImportError as error:
        raise MissingPackageError("this task needs Gymnasium: pip install 'neuroplastic[gym]'") from error
    return gymnasium
