"""The loop that a learner stands in, in one process: games, their episodes, and a state to resume from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import torch

from neuroplastic.learn.experience import Step


class Round(NamedTuple):
    actions: list[int]
    rewards: list[float]
    loss: float | None


class Loop:
    """Game g plays the episodes g, g + G, g + 2 G, ...; those under way are played again after a resume."""

    def __init__(self, make_game: Callable[[], Any], learner: Any) -> None:
        self.learner = learner
        self.games = [make_game() for _ in range(learner.games)]
        self.steps = 0
        self.episodes = list(range(learner.games))
        self.actions: list[list[int]] = [[] for _ in self.games]  # of the episodes under way

    def _start(self, game: int) -> np.ndarray:
        self.actions[game] = []
        return self.games[game].reset(options={"episode": self.episodes[game]})[0]

    def run(self, rounds: int) -> Iterator[Round]:
        for _ in range(rounds):
            yield self.round()

    def round(self) -> Round:
        if self.steps == 0:
            self.learner.begin(np.stack([self._start(game) for game in range(len(self.games))]))
        actions = self.learner.act()
        outcomes = [game.step(action) for game, action in zip(self.games, actions, strict=True)]
        following, last = [], {}
        for number, (action, (observation, _, terminated, truncated, _)) in enumerate(
            zip(actions, outcomes, strict=True)
        ):
            self.actions[number].append(int(action))
            if terminated or truncated:
                last[number] = observation
                self.episodes[number] += len(self.games)
                observation = self._start(number)
            following.append(observation)
        rewards, terminated, truncated = (
            np.array([outcome[column] for outcome in outcomes], kind)
            for column, kind in ((1, np.float32), (2, bool), (3, bool))
        )
        self.learner.observe(Step(rewards, terminated, truncated, np.stack(following), last))
        loss = self.learner.update()
        self.steps += len(self.games)
        return Round(actions.tolist(), rewards.tolist(), None if loss is None else loss.item())

    def state_dict(self) -> dict[str, Any]:
        return {
            "steps": self.steps,
            "episodes": list(self.episodes),
            "actions": [list(actions) for actions in self.actions],
            "learner": self.learner.state_dict(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.steps, self.episodes = state["steps"], list(state["episodes"])
        self.learner.load_state_dict(state["learner"])
        for game, actions in enumerate(state["actions"]):
            self._start(game)
            for action in actions:
                self.games[game].step(action)
            self.actions[game] = list(actions)


def equal_states(one: Any, other: Any) -> bool:
    """Whether two states are equal to the last bit."""
    if torch.is_tensor(one):
        return torch.is_tensor(other) and one.dtype == other.dtype and torch.equal(one, other)
    if isinstance(one, Mapping):
        return one.keys() == other.keys() and all(equal_states(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(equal_states, one, other))
    return bool(one == other)
