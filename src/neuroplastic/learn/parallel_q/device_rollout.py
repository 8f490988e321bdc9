"""What a rollout is learned from, on the learner's device: tensors that stay where they are."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..device_memory import check_room
from ..experience import Observations


class DeviceRollout:
    """States, actions and targets of T decisions in G games, flat: decision t of game g is row t * G + g.

    What decisions were made upon is brought when the rollout is full, and becomes the states when it is learned from;
    where that is `apart`, it can be brought while the last one is still learned from.
    """

    def __init__(
        self, length: int, first: Observations, device: torch.device, *, passes: int = 1, apart: bool = False
    ) -> None:
        """Of `length` decisions in each game, of observations like `first`, learned from in so many `passes`."""
        games = len(first)
        decisions = length * games
        check_room(
            device,
            length * first.nbytes * (2 if apart else 1),
            f"a rollout of {length} decisions in {games} games",
            "rollout or training_games",
        )
        kind = torch.from_numpy(first).dtype
        self.device = device
        self.states = torch.zeros(decisions, *first.shape[1:], dtype=kind, device=device)
        self._seen = torch.zeros_like(self.states) if apart else self.states
        self.actions = torch.zeros(decisions, dtype=torch.int64, device=device)
        self.targets = torch.zeros(decisions, device=device)
        self.advice = torch.full_like(self.actions, -1)
        # The decisions of all updates in their order, which of them are seen in a mirror, and how many are done.
        self._order = torch.zeros(passes * decisions, dtype=torch.int64, device=device)
        self._turned = torch.zeros(passes * decisions, dtype=torch.bool, device=device)
        self._done = torch.zeros(1, dtype=torch.int64, device=device)
        self._steps = torch.arange(decisions, device=device)

    def line_up(self, order: NDArray[np.int64], turned: NDArray[np.bool_] | None) -> None:
        """Bring the decisions of all updates in their order, and which of them are seen in a mirror."""
        self._order.copy_(self.sent(order))
        if turned is not None:
            self._turned.copy_(self.sent(turned))
        self._done.zero_()

    def next_part(self, size: int) -> tuple[Tensor, Tensor]:
        """The next so many decisions, (k,), and which of them are seen in a mirror; the device counts along."""
        these = self._done + self._steps[:size]
        self._done.add_(size).remainder_(len(self._order))  # after the last comes the first
        return self._order[these], self._turned[these]

    def bring(self, observations: Tensor) -> None:
        """What the decisions of a rollout were made upon, (T, G, *shape), on the host; waited for."""
        self._seen.copy_(observations.flatten(0, 1))

    def decide(
        self, actions: NDArray[np.int64], targets: NDArray[np.float32], advice: NDArray[np.int64]
    ) -> None:
        """Bring actions, what their values are to become, and advice, (T, G); what was seen becomes the states."""
        if self._seen is not self.states:
            self.states.copy_(self._seen)
        self.actions.copy_(self.sent(actions.reshape(-1)))
        self.targets.copy_(self.sent(targets.reshape(-1)))
        self.advice.copy_(self.sent(advice.reshape(-1)))

    def sent(self, values: NDArray[np.int64] | NDArray[np.float32] | NDArray[np.bool_]) -> Tensor:
        """Values on the device, without a wait."""
        staged = torch.from_numpy(values)
        if self.device.type == "cuda":
            staged = staged.pin_memory()
        return staged.to(self.device, non_blocking=True)
