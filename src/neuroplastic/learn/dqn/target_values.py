"""The target network's values of remembered frames, kept for as long as they hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn


class TargetValues:
    """Values of frames by the target network, computed once per frame and position of that network.

    A transition is sampled about ten times between two copies of the paper's target network, which gives the same
    values each time. Kept values equal fresh ones up to rounding: how a matrix product rounds depends on how
    many rows it has, and here only frames not seen since the last move are computed.
    """

    def __init__(self, slots: int, actions: int) -> None:
        self._values = torch.zeros(slots, actions)
        self._steps = torch.full((slots,), -1)  # whose frame a slot's values belong to; -1: nobody's

    def forget(self) -> None:
        """Drop everything: the target network has moved."""
        self._steps.fill_(-1)

    def __call__(self, target: nn.Module, frames: Tensor, steps: Tensor) -> Tensor:
        """Values (B, actions) of the frames (B, *frame) of these steps (B,); a frame of no step, -1, is never kept."""
        slots = steps % len(self._steps)
        missing = ((self._steps[slots] != steps) | (steps < 0)).nonzero().squeeze(1)
        if not len(missing):
            return self._values[slots]
        fresh = target(frames if len(missing) == len(frames) else frames[missing]).to(self._values.dtype)
        of_a_step = steps[missing] >= 0
        kept = missing[of_a_step]
        self._values[slots[kept]] = fresh[of_a_step]
        self._steps[slots[kept]] = steps[kept]
        values = self._values[slots]
        values[missing[~of_a_step]] = fresh[~of_a_step]
        return values

    def state_dict(self) -> dict[str, Tensor]:
        """What is kept, for a resumed run that is to round exactly as the interrupted one."""
        known = (self._steps >= 0).nonzero().squeeze(1)
        return {"steps": self._steps[known], "values": self._values[known]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Keep what was saved."""
        self.forget()
        slots = state["steps"] % len(self._steps)
        self._steps[slots] = state["steps"]
        self._values[slots] = state["values"]
