"""What an arena tells: episodes that ended, episodes that did not repeat, and what went wrong."""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import NeuroplasticError
from ...learn.experience import Observations


class ArenaError(NeuroplasticError, RuntimeError):
    """An arena was used where it cannot go on."""


class WorkerLostError(ArenaError):
    """Worker after worker died without taking a step."""


class WorkerReplacedWarning(RuntimeWarning):
    """A worker died; another plays its episodes again from their actions."""


class ReplayedEpisodeWarning(UserWarning):
    """The environment did not repeat an interrupted episode: the run is not exact."""


@dataclass(frozen=True)
class Episode:
    """A finished training episode."""

    episode: int
    game: int
    last_step: int
    """decisions, over all games, that the arena had seen when it ended"""
    length: int
    """decisions in this episode"""
    total_reward: float


@dataclass(frozen=True)
class Unrepeated:
    """A game whose episode, played again, did not come to where it was: a learner must be told."""

    game: int
    episode: int
    actions: int
    """how many there were to play"""
    observation: Observations
    """what it shows now; where the episode is over, the first of the next"""
    over: bool
    """the episode ended before all its actions were taken, and the next one was begun"""

    def __str__(self) -> str:
        went_wrong = "ended early" if self.over else "led to another observation"
        return f"episode {self.episode}, played again over {self.actions} actions, {went_wrong}"
