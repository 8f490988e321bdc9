"""Games that somebody plays while a teacher says, for every state, what it would do there."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import at_least
from ..learn.episodes import Stream
from ..learn.experience import Observations
from ..learn.imitation.demonstrations import Demonstrations
from .game import Game, Policy, checked_actions
from .protocols import Task
from .teachers import Teacher, told

GAMES = 4
"""played at once: the teacher is asked about so many states together"""
NEARLY = 0.05
"""an action is as good as the teacher's if it gives away at most this part of what lies between its best and worst"""


@dataclass(frozen=True, eq=False)
class Demonstrated:
    """States in the order in which they were seen, what the teacher would do, and what was done."""

    shown: Demonstrations
    taken: NDArray[np.int64]
    """(N,): the actions that were taken"""
    pictures: Observations
    """(N, *shape): what the teacher looked at; empty unless it was to be kept"""
    given_away: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    """(N,): by the teacher's values, the part of the way from its best action to its worst that was taken; of a teacher
    without values 0 for its own action and 1 for any other"""

    @property
    def agreement(self) -> float:
        """The share of the states in which the player did what the teacher would have done."""
        return self.shown.agreement_with(self.taken, costs=False)

    @property
    def weighted_agreement(self) -> float:
        """The same, where a state counts by what lies between the teacher's best and its worst action."""
        return self.shown.agreement_with(self.taken, costs=True)

    @property
    def as_good(self) -> float:
        """The share of the states in which what was done is worth about as much to the teacher as what it would do."""
        return float((self.given_away <= NEARLY).mean())


def demonstrate(
    task: Task,
    teacher: Teacher,
    player: Policy | None,
    *,
    states: int,
    seed: int = 0,
    first_episode: int = 0,
    stream: Stream = "training",
    keep_looks: bool = False,
) -> Demonstrated:
    """Play episodes of a task until `states` states were seen; without a player the teacher itself plays.

    Episodes are numbered from `first_episode`. What is seen does not depend on timing.
    """
    at_least("states", states, 1)
    seen: list[Observations] = []
    looks: list[Observations] = []
    actions: list[NDArray[np.int64]] = []
    costs: list[NDArray[np.float64]] = []
    taken: list[NDArray[np.int64]] = []
    given_away: list[NDArray[np.float64]] = []
    with ExitStack() as stack:
        games = [stack.enter_context(Game(task, seed=seed, stream=stream)) for _ in range(GAMES)]
        following = first_episode
        for game in games:
            game.begin(following)
            following += 1
        while len(seen) * GAMES < states:
            observations: Any = np.stack([game.observation for game in games])
            look: Any = np.stack([teacher.look(game) for game in games])
            answer: Any = teacher.answered(look)
            should, cost = told(answer, GAMES, task)
            does = should if player is None else checked_actions(player(observations), GAMES, task)
            seen.append(observations)
            if keep_looks:
                looks.append(look)
            actions.append(should)
            costs.append(cost)
            taken.append(does)
            given_away.append(_given_away(answer, should, does))
            for game, action in zip(games, does.tolist(), strict=True):
                game.act(action)
                if game.over:
                    game.begin(following)
                    following += 1
    shown = Demonstrations(
        np.concatenate(seen).astype(np.float32, copy=False), np.concatenate(actions), np.concatenate(costs)
    )
    pictures: Any = np.concatenate(looks) if keep_looks else np.empty(0, np.uint8)
    return Demonstrated(shown, np.concatenate(taken), pictures, np.concatenate(given_away))


def _given_away(answer: Any, should: NDArray[np.int64], does: NDArray[np.int64]) -> NDArray[np.float64]:
    if answer.ndim == 1:
        other: NDArray[np.float64] = (does != should).astype(np.float64)
        return other
    values = answer.astype(np.float64)
    best, worst = values.max(axis=1), values.min(axis=1)
    lost = best - values[np.arange(len(does)), does]
    part: NDArray[np.float64] = np.where(does == should, 0.0, lost / np.maximum(best - worst, 1e-12))
    return part
