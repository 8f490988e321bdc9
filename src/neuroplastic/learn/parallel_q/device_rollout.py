"""What a rollout is learned from, on the learner's device: tensors that stay where they are."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..device_memory import check_room
from ..experience import Observations


class Part:
    """The decisions of one update: which of the rollout they are, and which of them are seen in a mirror."""

    def __init__(self, size: int, device: torch.device) -> None:
        self.places = torch.zeros(size, dtype=torch.int64, device=device)
        self.turned = torch.zeros(size, dtype=torch.bool, device=device)


class DeviceRollout:
    """States, actions and targets of T decisions in G games, flat: decision t of game g is row t * G + g.

    What decisions are made upon is seen as they are made, and becomes the states when the rollout is learned from;
    where that is `apart`, the next rollout can be seen meanwhile.
    """

    def __init__(
        self, length: int, first: Observations, device: torch.device, *, apart: bool = False
    ) -> None:
        games = len(first)
        decisions = length * games
        check_room(
            device,
            length * first.nbytes * (2 if apart else 1),
            f"a rollout of {length} decisions in {games} games",
            "rollout or training_games",
        )
        kind = torch.from_numpy(first).dtype
        self.device, self._games = device, games
        self.states = torch.zeros(decisions, *first.shape[1:], dtype=kind, device=device)
        self._seen = torch.zeros_like(self.states) if apart else self.states
        self.actions = torch.zeros(decisions, dtype=torch.int64, device=device)
        self.targets = torch.zeros(decisions, device=device)
        self.parts: dict[int, Part] = {}
        self._places: dict[bytes, Tensor] = {}  # of groups of games

    def part(self, size: int) -> Part:
        """Where the decisions of an update of that size are named."""
        if size not in self.parts:
            self.parts[size] = Part(size, self.device)
        return self.parts[size]

    def see(self, row: int, observations: Tensor) -> None:
        """Note what decision `row` of all games is made upon, (G, *shape), on either side."""
        self._seen[row * self._games : (row + 1) * self._games].copy_(observations, non_blocking=True)

    def see_in(self, row: int, games: NDArray[np.int64], observations: Tensor) -> None:
        """Note what decision `row` of some games is made upon, (k, *shape)."""
        key = games.tobytes()
        if key not in self._places:
            self._places[key] = torch.from_numpy(games).to(self.device)
        self._seen[row * self._games : (row + 1) * self._games].index_copy_(
            0, self._places[key], observations.to(self.device)
        )

    def decide(self, actions: NDArray[np.int64], targets: NDArray[np.float32]) -> None:
        """Bring the actions and what their values are to become, (T, G) each; what was seen becomes the states."""
        if self._seen is not self.states:
            self.states.copy_(self._seen)
        self.actions.copy_(self.sent(actions.reshape(-1)))
        self.targets.copy_(self.sent(targets.reshape(-1)))

    def sent(self, values: NDArray[np.int64] | NDArray[np.float32] | NDArray[np.bool_]) -> Tensor:
        """Values on the device, without a wait."""
        staged = torch.from_numpy(values)
        if self.device.type == "cuda":
            staged = staged.pin_memory()
        return staged.to(self.device, non_blocking=True)
