"""One game of a task, an episode at a time: the only place where an environment is stepped."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from ..errors import NeuroplasticError, in_short
from ..learn.episodes import Stream
from ..learn.experience import Observations
from ..network.observation import Observation
from .protocols import Task

Policy = Callable[[Observations], npt.ArrayLike]
"""From k observations (k, *shape) to k whole-numbered actions. k varies from call to call."""


class GameError(NeuroplasticError, RuntimeError):
    """An environment failed, or showed something that its task does not say."""


class GameLostError(GameError):
    """What played a game is gone, an engine that crashed, say; a new environment can play the episode again."""


class PolicyError(NeuroplasticError, ValueError):
    """A policy returned something else than one action per observation."""


class Game:
    """An environment of a task and the episode that is under way in it.

    `begin` an episode, then `act` until it is `over`. An error that the environment raises is a NeuroplasticError of
    its own, or becomes a GameError that says where it happened.
    """

    def __init__(self, task: Task, *, seed: int = 0, stream: Stream = "training", film: bool = False) -> None:
        self.task = task
        self.environment = task.environment(seed=seed, stream=stream, film=film)
        self.episode = -1
        self.steps = 0
        self.reward = 0.0
        """of the latest action"""
        self.total_reward = 0.0
        """of the episode so far"""
        self.terminated = self.truncated = False
        self._shape = task.observation.shape
        self._dtype = observation_dtype(task.observation)
        self.observation: Observations = np.zeros(self._shape, self._dtype)
        """The latest one. The environment may write into it when it is stepped: copy what is to be kept."""

    def __enter__(self) -> Game:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def advice(self) -> int:
        """What the environment would do now, -1 where it gives no advice."""
        advice = getattr(self.environment, "advice", -1)
        if not isinstance(advice, (int, np.integer)) or not -1 <= advice < len(self.task.actions):
            raise GameError(
                f"the advice of {self.task.key} must be one of its actions, 0 to {len(self.task.actions) - 1}, or -1 "
                f"for none, got {in_short(repr(advice), 80)}"
            )
        return int(advice)

    @property
    def over(self) -> bool:
        """Whether the episode has ended."""
        return self.terminated or self.truncated

    def begin(self, episode: int) -> None:
        """Start the episode of that number, whatever was played before."""
        self.episode, self.steps = episode, 0
        self.reward = self.total_reward = 0.0
        self.terminated = self.truncated = False
        try:
            observation, _ = self.environment.reset(options={"episode": episode})
        except NeuroplasticError:
            raise
        except Exception as error:
            raise self._failed(error) from error
        self.observation = self._seen(observation)

    def act(self, action: int) -> None:
        """Take an action."""
        try:
            observation, reward, terminated, truncated, _ = self.environment.step(action)
            self.reward = float(reward)
        except NeuroplasticError:
            raise
        except Exception as error:
            raise self._failed(error) from error
        self.steps += 1
        self.total_reward += self.reward
        self.terminated, self.truncated = bool(terminated), bool(truncated)
        self.observation = self._seen(observation)

    def close(self) -> None:
        """Close the environment."""
        self.environment.close()

    def _seen(self, given: Any) -> Observations:
        seen = np.asarray(given)
        if seen.shape != self._shape or not np.can_cast(seen.dtype, self._dtype, "same_kind"):
            raise GameError(
                f"{self._where}: observations of {self.task.key} must be {self._dtype} of shape {self._shape}, "
                f"got {seen.dtype} of shape {seen.shape}"
            )
        return seen.astype(self._dtype, copy=False)

    @property
    def _where(self) -> str:
        return f"episode {self.episode} of {self.task.key}, after {self.steps} steps"

    def _failed(self, error: Exception) -> GameError:
        return GameError(f"{self._where}: the environment failed with {type(error).__name__}: {error}")


def observation_dtype(observation: Observation) -> np.dtype[Any]:
    """What an observation is held in: uint8 for pictures, float32 for vectors."""
    return np.dtype(np.uint8 if observation.is_picture else np.float32)


def checked_actions(answer: npt.ArrayLike, count: int, task: Task) -> NDArray[np.int64]:
    """The actions (count,) that a policy answered with, or a PolicyError."""
    actions = np.asarray(answer)
    if actions.shape != (count,) or not np.issubdtype(actions.dtype, np.integer):
        raise PolicyError(
            f"a policy must return one whole number per observation, shape ({count},), "
            f"got {actions.dtype} of shape {actions.shape}"
        )
    if actions.min() < 0 or actions.max() >= len(task.actions):
        raise PolicyError(
            f"actions of {task.key} must be at least 0 and below {len(task.actions)}, got {actions}"
        )
    return actions.astype(np.int64, copy=False)


def decision(policy: Policy, game: Game) -> int:
    """The action that a policy takes on what a game shows."""
    return decided(policy, game.observation, game.task)


def decided(policy: Policy, observation: Observations, task: Task) -> int:
    """The action that a policy takes on one observation."""
    return int(checked_actions(policy(observation[None]), 1, task)[0])
