"""The training loop: games at once, one learner, one decision in each at a time, resumable between any two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from torch import Tensor

from .arena import Arena, Episode
from .earlier import upgraded_training
from .protocols import InTurns, Learner


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

    def step(self, *, rounds: int = 1) -> StepReport:
        """Act once in every game, and learn.

        Where games are played in groups that take turns, up to so many `rounds` are, which ends them all in time to
        learn. What is learned does not depend on it.
        """
        self.begin()
        if rounds > 1 and self._in_turns:
            return self._step_in_turns(rounds)
        seen = self.arena.step(self.learner.act())
        self.steps += self.learner.games
        self.learner.observe(seen)
        loss = self.learner.update()
        finished = self.arena.episodes_ended
        self.episodes += finished
        return StepReport(self.steps, loss, finished)

    @property
    def _in_turns(self) -> bool:
        """Whether it pays to find actions for one half of the games while the other is played."""
        # On a CPU, passes over half of the games round otherwise, and runs are to repeat those of earlier versions.
        resident = getattr(self.learner, "resident", False)
        return bool(self.arena.groups) and resident and isinstance(self.learner, InTurns)

    def _step_in_turns(self, rounds: int) -> StepReport:
        """Rounds up to the next time of learning: while one group of games is played, the other's actions are found."""
        learner, arena = self.learner, self.arena
        assert isinstance(learner, InTurns)
        rounds = min(rounds, learner.rounds_ahead)
        finished: list[Episode] = []
        learner.read_from(arena.shown_in)
        turns = [(ahead, group) for ahead in range(rounds) for group in (0, 1)]
        for turn, (ahead, group) in enumerate(turns):
            games = arena.groups[group]
            if ahead:
                arena.wait(group)
            learner.consider_in(games)
            if ahead:  # while a GPU is at work
                finished += self._observe(ahead - 1, group)
            arena.send(group, learner.act_in(games, ahead, first=group == 0))
            learner.meanwhile(len(turns) - turn)
        for ahead, group in turns[-2:]:
            arena.wait(group)
            finished += self._observe(ahead, group)
        learner.advance(rounds)
        self.steps += rounds * self.learner.games
        loss = self.learner.update()
        ended = tuple(sorted(finished, key=lambda episode: (episode.last_step, episode.game)))
        self.episodes += ended
        return StepReport(self.steps, loss, ended)

    def _observe(self, ahead: int, group: int) -> tuple[Episode, ...]:
        learner, arena, games = self.learner, self.arena, self.arena.groups[group]
        assert isinstance(learner, InTurns)
        kept = learner.see_in(games, ahead + 1, arena.shown_in[games])
        learner.observe_in(games, ahead, arena.receive(group, kept))
        return arena.episodes_ended

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
