"""Play that was recorded: episodes, and the transitions that learners draw from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from ..experience import Observations


@dataclass(frozen=True, eq=False)
class Episode:
    """One episode of T decisions, or its first T."""

    observations: Observations
    """(T + 1, *shape): what was decided on, and the last one"""
    actions: NDArray[np.int64]
    """(T,)"""
    rewards: NDArray[np.float32]
    """(T,)"""
    terminated: bool
    """whether it ended, so that no reward would have followed; else it was cut short"""
    number: int = 0
    seed: int | None = None
    values: NDArray[np.float32] | None = None
    """(T, A): what the player thought the actions were worth, where that is known"""
    pictures: NDArray[np.uint8] | None = None
    """(T + 1, height, width, channels), where observations are something else"""

    def __post_init__(self) -> None:
        steps = len(self.actions)
        if steps < 1 or len(self.rewards) != steps or len(self.observations) != steps + 1:
            raise InputError(
                f"an episode of {steps} actions must have at least one, as many rewards and one observation more, got "
                f"{len(self.rewards)} rewards and {len(self.observations)} observations"
            )

    @property
    def score(self) -> float:
        """The sum of its rewards."""
        return float(self.rewards.sum())


@dataclass(frozen=True, eq=False)
class Recording:
    """Episodes of one task; transitions are drawn from all of them."""

    episodes: tuple[Episode, ...]
    actions: int
    """how many there are to choose from"""

    def __post_init__(self) -> None:
        if not self.episodes:
            raise InputError("a recording must have at least one episode")
        shapes = {episode.observations.shape[1:] for episode in self.episodes}
        if len(shapes) != 1:
            raise InputError(f"the observations of a recording must have one shape, got {sorted(shapes)}")
        least, most = (
            min(int(e.actions.min()) for e in self.episodes),
            max(int(e.actions.max()) for e in self.episodes),
        )
        if least < 0 or most >= self.actions:
            raise InputError(f"actions must be at least 0 and below {self.actions}, got {least} to {most}")

    def __len__(self) -> int:
        return sum(len(episode.actions) for episode in self.episodes)

    @property
    def mean_score(self) -> float:
        """Of the episodes."""
        return float(np.mean([episode.score for episode in self.episodes]))

    def transitions(self) -> Transitions:
        """All of them, in order."""
        ends = np.cumsum([len(episode.actions) for episode in self.episodes]) - 1
        last = np.zeros(len(self), bool)
        last[ends] = [episode.terminated for episode in self.episodes]
        return Transitions(
            _joined([episode.observations[:-1] for episode in self.episodes]),
            np.concatenate([episode.actions for episode in self.episodes]),
            np.concatenate([episode.rewards for episode in self.episodes]).astype(np.float32),
            _joined([episode.observations[1:] for episode in self.episodes]),
            last,
        )


@dataclass(frozen=True, eq=False)
class Transitions:
    """Arrays of N decisions: what was seen, done and earned, what was seen next, and whether that was the end."""

    observations: Observations
    actions: NDArray[np.int64]
    rewards: NDArray[np.float32]
    following: Observations
    terminated: NDArray[np.bool_]


def _joined(parts: Sequence[Observations]) -> Observations:
    whole: Any = np.concatenate(parts)
    return whole  # type: ignore[no-any-return]
