"""The training loop: games at once, one learner, one decision in each at a time, resumable between any two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from torch import Tensor

from .arena import Arena, Episode
from .earlier import upgraded_training
from .protocols import Learner


@dataclass(frozen=True)
class StepReport:
    """One decision in every game, and what was learned after it."""

    step: int
    """decisions so far, over all games"""
    loss: Tensor | None
    """of the updates that were made, None where there was none"""
    finished: tuple[Episode, ...]
    """the episodes that ended"""


class Trainer:
    """Plays and learns: the learner's actions in all games, what came of them, and an update if it is time."""

    def __init__(self, arena: Arena, learner: Learner) -> None:
        self.arena, self.learner = arena, learner
        self.steps = 0
        self.episodes: list[Episode] = []
        self._begun = False

    def begin(self) -> None:
        """Start the games, unless they are under way; where they cannot be played, this says so."""
        if not self._begun:
            self.learner.begin(self.arena.begin())
            self._begun = True

    def step(self) -> StepReport:
        """Act once in every game, and learn."""
        self.begin()
        seen = self.arena.step(self.learner.act())
        self.steps += self.learner.games
        self.learner.observe(seen)
        loss = self.learner.update()
        finished = self.arena.episodes_ended
        self.episodes += finished
        return StepReport(self.steps, loss, finished)

    def state_dict(self) -> dict[str, Any]:
        """The whole state of training, learner included. Save it before the next step: it holds views."""
        return {
            "steps": self.steps,
            "episodes": [asdict(episode) for episode in self.episodes],
            "arena": self.arena.state_dict() if self._begun else None,
            "learner": self.learner.state_dict(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on exactly where `state_dict` was taken, by this version or an earlier one.

        A game cannot be saved in the middle of an episode, so the episodes under way are played again from their
        actions. What does not repeat is said in a warning, and the learner is told.
        """
        state = upgraded_training(state)
        self.steps = state["steps"]
        self.episodes = [Episode(**episode) for episode in state["episodes"]]
        self.learner.load_state_dict(state["learner"])
        self._begun = state["arena"] is not None
        if not self._begun:
            return
        for change in self.arena.load_state_dict(state["arena"]):
            tell = self.learner.abandon_episode if change.over else self.learner.replace_observation
            tell(change.game, change.observation)
        self.episodes += self.arena.episodes_ended
        for game, saved in enumerate(state["arena"]["games"]):
            if saved["observation_sha256"] is None:  # an earlier version's, between two episodes
                self.learner.abandon_episode(game, self.arena.observations[game])
