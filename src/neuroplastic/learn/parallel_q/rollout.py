"""The decisions of many games between two times of learning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ...errors import InputError
from ..experience import Observations, Step
from ..teaching import NO_ADVICE

_TYPES = (np.dtype(np.uint8), np.dtype(np.float32))
_BY_DECISION = ("actions", "values", "rewards", "ended", "advice")


class Rollout:
    """Up to T decisions in each of G games; every observation is kept once, as it came.

    Row t of `observations` (T + 1, G, *shape) is what decision t was made upon, and row t + 1 what it led to or,
    where the episode ended, the first observation of the next one. The row after the last decision is at hand.
    """

    def __init__(self, length: int, first: Observations, *, pinned: bool = False) -> None:
        """Of so many decisions in each game; `pinned`: a GPU copies what is seen from where it lies."""
        if first.dtype not in _TYPES:
            raise InputError(f"observations must be uint8 or float32, got {first.dtype}")
        games = len(first)
        self.length = length
        self.filled = 0
        self._held = torch.empty(
            length + 1, *first.shape, dtype=torch.from_numpy(first).dtype, pin_memory=pinned
        )
        self.observations: Observations = self._held.numpy()
        self.observations[0] = first
        self.actions = np.zeros((length, games), np.int64)
        self.values = np.zeros((length, games), np.float32)
        """of the best actions, when the decisions were made"""
        self.rewards = np.zeros((length, games), np.float32)
        self.ended = np.zeros((length, games), np.bool_)
        self.advice = np.full((length, games), NO_ADVICE)
        """what the games would have done; -1 where they did not say"""
        self.last: dict[tuple[int, int], Observations] = {}
        """last observation of each episode that was cut short and whose value counts on, by decision and game"""

    @property
    def full(self) -> bool:
        """Whether it is time to learn."""
        return self.filled == self.length

    @property
    def current(self) -> Observations:
        """The observations at hand, (G, *shape); a view."""
        current: Observations = self.observations[self.filled]
        return current

    def decide(
        self, actions: NDArray[np.int64], values: NDArray[np.float32], advice: NDArray[np.int64]
    ) -> None:
        """Note the actions (G,) taken upon the observations at hand, the values of the best ones, and the advice."""
        self.actions[self.filled] = actions
        self.values[self.filled] = values
        self.advice[self.filled] = advice

    def observe(self, step: Step, *, keep_cut_short: bool) -> None:
        """Note what came of the actions; `keep_cut_short`: with last observations of episodes cut short."""
        self._check(step.observations, self.current.shape)
        row = self.filled
        self.rewards[row] = step.rewards
        self.ended[row] = step.ended
        if keep_cut_short:
            for game in (step.truncated & ~step.terminated).nonzero()[0].tolist():
                self._keep_last(row, game, step.last[game])
        self.filled += 1
        self.observations[self.filled] = step.observations

    def decide_in(
        self,
        row: int,
        games: slice,
        actions: NDArray[np.int64],
        values: NDArray[np.float32],
        advice: NDArray[np.int64],
    ) -> None:
        """Note the actions (k,) of some games for decision `row`, the values of the best ones, and the advice."""
        self.actions[row, games], self.values[row, games] = actions, values
        self.advice[row, games] = advice

    @property
    def held(self) -> Tensor:
        """What all decisions are made upon, (T, G, *shape); a view."""
        return self._held[:-1]

    def see_in(self, row: int, games: slice, observations: Observations) -> Observations:
        """Note what decision `row` of some games is to be made upon; the copy, which stays until the next `row`."""
        kept: Observations = self.observations[row, games]
        self._check(observations, kept.shape)
        np.copyto(kept, observations)
        return kept

    def observe_in(self, row: int, games: slice, step: Step, *, keep_cut_short: bool) -> None:
        """Note what came of decision `row` in some games, but for what they show; `skip` over it once all are seen."""
        self.rewards[row, games], self.ended[row, games] = step.rewards, step.ended
        if keep_cut_short:
            for place in (step.truncated & ~step.terminated).nonzero()[0].tolist():
                self._keep_last(row, games.start + place, step.last[place])

    def skip(self, rows: int) -> None:
        """So many decisions have been noted in all games."""
        self.filled += rows

    def replace(self, game: int, observation: Observations) -> None:
        """Another observation is at hand in a game."""
        self._check(observation, self.current.shape[1:])
        self.observations[self.filled, game] = observation

    def end_episode(self, game: int, *, keep_cut_short: bool) -> None:
        """End a game's episode where it stands, as if cut short, unless its first decision is still to come."""
        row = self.filled - 1
        if row < 0 or self.ended[row, game]:
            return
        self.ended[row, game] = True
        if keep_cut_short:
            self._keep_last(row, game, self.current[game])

    def following(self, current: NDArray[np.float32], last: NDArray[np.float32]) -> NDArray[np.float32]:
        """Values (T, G) of what decisions led to, 0 at ends, given those at hand (G,) and those of `last` (K,)."""
        values = np.concatenate((self.values[1:], current[None]))
        values[self.ended] = 0.0
        for value, place in zip(last, self.last, strict=True):
            values[place] = value
        return values

    def restart(self) -> None:
        """Forget all but the observations at hand."""
        self.observations[0] = self.observations[self.filled]
        self.filled = 0
        self.last = {}

    def state_dict(self) -> dict[str, Any]:
        """All that is noted. The tensors are views: save or copy them before the next decision."""
        state: dict[str, Any] = {"observations": torch.from_numpy(self.observations[: self.filled + 1])}
        state |= {name: torch.from_numpy(getattr(self, name)[: self.filled]) for name in _BY_DECISION}
        if self.last:
            state["cut_short"] = {
                "places": torch.tensor(list(self.last)),
                "last_observations": torch.from_numpy(np.stack(list(self.last.values()))),
            }
        return state

    @classmethod
    def from_state(cls, length: int, state: Mapping[str, Any], *, pinned: bool = False) -> Rollout:
        """What `state_dict` gave, of a rollout of the same length."""
        observations = state["observations"].numpy()
        rollout = cls(length, observations[0], pinned=pinned)
        rollout.filled = len(observations) - 1
        if rollout.filled > length:
            raise InputError(
                f"{rollout.filled} decisions were saved, which does not fit a rollout of {length}"
            )
        rollout.observations[: len(observations)] = observations
        for name in _BY_DECISION:
            if name in state:  # earlier states hold no advice
                getattr(rollout, name)[: rollout.filled] = state[name].numpy()
        if "cut_short" in state:
            places, last = (state["cut_short"][name] for name in ("places", "last_observations"))
            for (row, game), observation in zip(places.tolist(), last.numpy(), strict=True):
                rollout.last[row, game] = observation.copy()
        return rollout

    def _keep_last(self, row: int, game: int, observation: Observations) -> None:
        self._check(observation, self.current.shape[1:])
        self.last[row, game] = observation.copy()

    def _check(self, observations: Observations, shape: tuple[int, ...]) -> None:
        if observations.dtype != self.observations.dtype:
            raise InputError(
                f"observations must be {self.observations.dtype} like the first, got {observations.dtype}"
            )
        if observations.shape != shape:
            raise InputError(f"observations must have shape {shape} like the first, got {observations.shape}")
