"""Updates that are made one by one while games are played on."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

import torch
from torch import Tensor


class PendingUpdates:
    """Updates in their order, some made and some still to be made; what is made when changes nothing but time."""

    def __init__(self, updates: Iterable[Callable[[], Tensor]], device: torch.device) -> None:
        """Each of `updates` makes one and gives its loss."""
        self.loss = torch.full((), float("nan"), device=device)
        """Their mean loss; not a number until all are made."""
        self._updates = deque(updates)
        self._losses: list[Tensor] = []

    def go_on(self, turns: int = 1) -> None:
        """Make the share of those left that falls on the next of so many turns; all with the last."""
        for _ in range(-(-len(self._updates) // turns)):
            self._losses.append(self._updates.popleft()())
        if self._losses and not self._updates:
            self.loss.copy_(torch.stack(self._losses).mean())
            self._losses = []
