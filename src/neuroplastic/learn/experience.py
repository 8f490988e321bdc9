"""What a learner is told: the setting that it learns in, and what came of the actions that it chose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:  # who plays only is told of steps, and needs no PyTorch
    import torch

    from .seeding import RandomStreams

Observations = NDArray[np.uint8] | NDArray[np.float32]
"""Pictures, uint8, (k, height, width, channels), or vectors of attributes, float32, (k, attributes)."""


def _cpu() -> torch.device:
    import torch

    return torch.device("cpu")


@dataclass(frozen=True)
class Setting:
    """What a learner needs to know beside its configuration and its network."""

    actions: int
    """how many there are; an action is a number from 0"""
    streams: RandomStreams
    total_steps: int
    """decisions of the whole run, over all games: what schedules span"""
    device: torch.device = field(default_factory=_cpu)
    mirrored_actions: tuple[int, ...] | None = None
    """what each action becomes in a mirror, where the world looks and pays alike in one"""


@dataclass(frozen=True)
class Step:
    """What came of one action in each of G games."""

    rewards: NDArray[np.float32]
    """(G,)"""
    terminated: NDArray[np.bool_]
    """(G,): the episode is over, and no reward would have followed"""
    truncated: NDArray[np.bool_]
    """(G,): the episode was cut short, by a time-out, say"""
    observations: Observations
    """(G, *shape): what is acted upon next; where an episode ended, the first of the next one"""
    last: Mapping[int, Observations]
    """(*shape) by game: the last observation of each episode that ended with this step"""
    advice: NDArray[np.int64] | None = None
    """(G,): what each game would do next, -1 where it does not say; None: none of them does"""

    @property
    def ended(self) -> NDArray[np.bool_]:
        """(G,): which games' episodes ended."""
        ended: NDArray[np.bool_] = self.terminated | self.truncated
        return ended
