"""The training loop: one environment, one learner, one step at a time, resumable at any step."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from ..learn.dqn.learner import QLearning


class Environment(Protocol):
    """What is asked of an environment: Gymnasium's `reset` and `step`, uint8 pictures, actions 0 to n - 1.

    `reset(options={"episode": k})` starts episode k. What happens in it must depend on k, on the
    environment's own seed and on the actions, and on nothing else: an interrupted episode is played again
    from its actions.
    """

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode; return its first picture."""
        ...

    def step(self, action: Any, /) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Act; return the next picture, the reward, whether the episode is over or cut short."""
        ...


class ReplayedEpisodeWarning(UserWarning):
    """The environment did not repeat an interrupted episode: the resumed run is not exact."""


@dataclass(frozen=True)
class Episode:
    """A finished training episode."""

    episode: int
    last_step: int
    length: int
    total_reward: float


@dataclass(frozen=True)
class StepReport:
    """One training step."""

    step: int
    episode: int
    action: int
    reward: float
    loss: Tensor | None
    finished: Episode | None


class Trainer:
    """Plays and learns, one environment step at a time.

    A step: an exploring action, its transition remembered (a time-out ends an episode like any other end),
    `updates_per_step` updates once learning has started, the exploration rate lowered. Episodes are
    numbered from `first_episode` and started by `environment.reset(options={"episode": number})`.
    """

    def __init__(self, environment: Environment, learner: QLearning, *, first_episode: int = 0) -> None:
        self.environment = environment
        self.learner = learner
        self.steps = 0
        self.episode = first_episode
        self.episodes: list[Episode] = []
        self._actions: list[int] = []  # of the episode under way
        self._reward = 0.0

    def run(self, steps: int) -> Iterator[StepReport]:
        """Take `steps` training steps, reporting each; between reports the state may be saved."""
        for _ in range(steps):
            yield self.step()

    def step(self) -> StepReport:
        """Take one training step."""
        learner = self.learner
        if learner.replay.current_frame is None:
            learner.replay.begin(self._start_episode())
        frame = learner.replay.current_frame
        assert frame is not None
        action = learner.explore(frame)
        next_frame, reward, terminated, truncated, _ = self.environment.step(action)
        over = bool(terminated or truncated)
        learner.replay.append(action, float(reward), None if over else np.asarray(next_frame))
        self._actions.append(action)
        self._reward += float(reward)
        loss = None
        for _ in range(learner.config.updates_per_step):
            loss = learner.step()
        learner.exploration.step()
        self.steps += 1
        finished = self._finish_episode() if over else None
        episode = finished.episode if finished else self.episode
        return StepReport(self.steps, episode, action, float(reward), loss, finished)

    def _start_episode(self) -> NDArray[np.uint8]:
        frame, _ = self.environment.reset(options={"episode": self.episode})
        return np.asarray(frame)

    def _finish_episode(self) -> Episode:
        finished = Episode(self.episode, self.steps, len(self._actions), self._reward)
        self.episodes.append(finished)
        self.episode += 1
        self._actions, self._reward = [], 0.0
        return finished

    def state_dict(self) -> dict[str, Any]:
        """The whole state of training, learner included. Save it before the next step: it holds views."""
        frame = self.learner.replay.current_frame
        return {
            "steps": self.steps,
            "episode": self.episode,
            "episodes": [asdict(episode) for episode in self.episodes],
            "actions": list(self._actions),
            "reward": self._reward,
            "frame_sha256": None if frame is None else _digest(frame),
            "learner": self.learner.state_dict(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on exactly where `state_dict` was taken.

        A game cannot be saved in the middle of an episode, so the episode under way is played again from
        its seed and actions. If the environment then shows another picture, a ReplayedEpisodeWarning says
        so.
        """
        self.steps = state["steps"]
        self.episode = state["episode"]
        self.episodes = [Episode(**episode) for episode in state["episodes"]]
        self._actions, self._reward = list(state["actions"]), state["reward"]
        self.learner.load_state_dict(state["learner"])
        if state["frame_sha256"] is not None:
            self._play_again(state["frame_sha256"])

    def _play_again(self, expected: str) -> None:
        frame, over = self._start_episode(), False
        for action in self._actions:
            next_frame, _, terminated, truncated, _ = self.environment.step(action)
            frame, over = np.asarray(next_frame), bool(terminated or truncated)
            if over:
                break
        if not over and _digest(frame) == expected:
            return
        went_wrong = "ended early" if over else "led to another picture"
        warnings.warn(
            f"episode {self.episode}, played again over {len(self._actions)} actions, {went_wrong}: the "
            "environment is not deterministic. Training goes on, but not exactly as it would have",
            ReplayedEpisodeWarning,
            stacklevel=3,
        )
        if over:
            self.learner.replay.end_episode()
            self._finish_episode()
        else:
            self.learner.replace_observation(frame)


def _digest(frame: NDArray[np.uint8]) -> str:
    return hashlib.sha256(np.ascontiguousarray(frame).data).hexdigest()
