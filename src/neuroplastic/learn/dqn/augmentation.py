"""Replayed pictures that look different each time: moved by a few pixels, or seen in a mirror."""

from __future__ import annotations

import torch
from torch import Tensor

from ..mirror import check_pictures, turned
from ..teaching import mirrored_advice
from .draws import Draws
from .replay import Batch


def shifted(batch: Batch, pixels: int, draws: Draws) -> Batch:
    """The batch with each picture moved by up to `pixels` down, up, left and right, its edge repeated.

    Pictures are (B, H, W) or (B, H, W, channels). A state and the one that follows are moved independently.
    """
    check_pictures("shift_pixels", "moves", tuple(batch.states.shape))
    moved = []
    drawn = draws.moves(pixels, len(batch.states))
    for pictures, moves in zip((batch.states, batch.next_states), drawn, strict=True):
        count, height, width = pictures.shape[:3]
        moves = moves.to(pictures.device)
        rows = (torch.arange(height, device=pictures.device) + moves[0]).clamp_(0, height - 1)
        columns = (torch.arange(width, device=pictures.device) + moves[1]).clamp_(0, width - 1)
        index = torch.arange(count, device=pictures.device)[:, None, None]
        moved.append(pictures[index, rows[:, :, None], columns[:, None, :]])
    return batch._replace(states=moved[0], next_states=moved[1])


def mirrored(batch: Batch, actions: Tensor, draws: Draws) -> Batch:
    """The batch with half of its transitions, drawn at random, seen in a mirror.

    Pictures are (B, H, W) or (B, H, W, channels); a state and the one that follows are turned together, and action
    a, taken or advised, becomes `actions[a]`. Rewards stay: that is only right in a world that looks and pays alike in
    a mirror.
    """
    return in_mirror(batch, actions, draws.turns(len(batch.actions)).to(batch.states.device))


def in_mirror(batch: Batch, actions: Tensor, turn: Tensor) -> Batch:
    """The batch with the transitions of `turn` (B,) seen in a mirror, where action a becomes `actions[a]`."""
    check_pictures("mirror", "turns", tuple(batch.states.shape))
    return batch._replace(
        states=turned(batch.states, turn),
        next_states=turned(batch.next_states, turn),
        actions=torch.where(turn, actions[batch.actions], batch.actions),
        advice=mirrored_advice(batch.advice, turn, actions),
    )
