"""Replayed pictures that look different each time: moved by a few pixels, or seen in a mirror."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from ...errors import InputError
from .replay import Batch


def shifted(batch: Batch, pixels: int, generator: np.random.Generator) -> Batch:
    """The batch with each picture moved by up to `pixels` down, up, left and right, its edge repeated.

    Pictures are (B, H, W) or (B, H, W, channels). A state and the one that follows are moved independently.
    """
    _check_pictures("shift_pixels", "moves", batch.states)
    moved = []
    for pictures in (batch.states, batch.next_states):
        count, height, width = pictures.shape[:3]
        moves = torch.from_numpy(generator.integers(-pixels, pixels + 1, (2, count, 1))).to(pictures.device)
        rows = (torch.arange(height, device=pictures.device) + moves[0]).clamp_(0, height - 1)
        columns = (torch.arange(width, device=pictures.device) + moves[1]).clamp_(0, width - 1)
        index = torch.arange(count, device=pictures.device)[:, None, None]
        moved.append(pictures[index, rows[:, :, None], columns[:, None, :]])
    return batch._replace(states=moved[0], next_states=moved[1])


def mirrored(batch: Batch, actions: Tensor, generator: np.random.Generator) -> Batch:
    """The batch with half of its transitions, drawn at random, seen in a mirror.

    Pictures are (B, H, W) or (B, H, W, channels); a state and the one that follows are turned together, and action
    a becomes `actions[a]`. Rewards stay: that is only right in a world that looks and pays alike in a mirror.
    """
    _check_pictures("mirror", "turns", batch.states)
    turn = torch.from_numpy(generator.random(len(batch.actions)) < 0.5).to(batch.states.device)
    over_pictures = turn.reshape(-1, *[1] * (batch.states.ndim - 1))
    return batch._replace(
        states=torch.where(over_pictures, batch.states.flip(2), batch.states),
        next_states=torch.where(over_pictures, batch.next_states.flip(2), batch.next_states),
        actions=torch.where(turn, actions[batch.actions], batch.actions),
    )


def _check_pictures(option: str, does: str, states: Tensor) -> None:
    """Raise unless states are pictures (B, H, W) or (B, H, W, channels)."""
    if states.ndim not in (3, 4):
        raise InputError(
            f"{option} {does} pictures, (B, height, width) or (B, height, width, channels), got observations "
            f"{tuple(states.shape)}; switch it off"
        )
