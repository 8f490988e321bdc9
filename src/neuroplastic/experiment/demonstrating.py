"""Games that somebody plays while a teacher says, for every state, what it would do there."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import at_least
from ..learn.experience import Observations
from ..learn.imitation.demonstrations import Demonstrations
from ..learn.seeding import Stream
from .game import Game, Policy, checked_actions
from .protocols import Task
from .teachers import Teacher, asked

GAMES = 4
"""played at once: the teacher is asked about so many states together"""


@dataclass(frozen=True, eq=False)
class Demonstrated:
    """States in the order in which they were seen, what the teacher would do, and what was done."""

    shown: Demonstrations
    taken: NDArray[np.int64]
    """(N,): the actions that were taken"""
    pictures: Observations
    """(N, *shape): what the teacher looked at; empty unless it was to be kept"""

    @property
    def agreement(self) -> float:
        """The share of the states in which the player did what the teacher would have done."""
        return float((self.taken == self.shown.actions).mean())


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
    with ExitStack() as stack:
        games = [stack.enter_context(Game(task, seed=seed, stream=stream)) for _ in range(GAMES)]
        following = first_episode
        for game in games:
            game.begin(following)
            following += 1
        while len(seen) * GAMES < states:
            observations: Any = np.stack([game.observation for game in games])
            look: Any = np.stack([teacher.look(game) for game in games])
            should, cost = asked(teacher, look, task)
            does = should if player is None else checked_actions(player(observations), GAMES, task)
            seen.append(observations)
            if keep_looks:
                looks.append(look)
            actions.append(should)
            costs.append(cost)
            taken.append(does)
            for game, action in zip(games, does.tolist(), strict=True):
                game.act(action)
                if game.over:
                    game.begin(following)
                    following += 1
    shown = Demonstrations(
        np.concatenate(seen).astype(np.float32, copy=False), np.concatenate(actions), np.concatenate(costs)
    )
    pictures: Any = np.concatenate(looks) if keep_looks else np.empty(0, np.uint8)
    return Demonstrated(shown, np.concatenate(taken), pictures)
