"""Pictures seen in a mirror, and what actions become there."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from ..errors import ConfigError, InputError
from ..fuzzy.tracing import may_look


def mirrored_pairs(actions: Sequence[int] | None, count: int) -> Tensor:
    """What each of `count` actions becomes in a mirror, as a tensor; they must undo themselves."""
    if actions is None:
        raise ConfigError("mirror needs mirrored_actions: what each action becomes in a mirror")
    if sorted(actions) != list(range(count)) or any(actions[actions[a]] != a for a in actions):
        raise ConfigError(f"mirrored_actions must pair up the actions 0 to {count - 1}, got {list(actions)}")
    return torch.tensor(actions)


def turned(pictures: Tensor, turn: Tensor) -> Tensor:
    """The pictures (B, H, W) or (B, H, W, channels), those of `turn` (B,) left for right."""
    if may_look(turn):  # those there are; a GPU would wait to learn how many
        pictures = pictures.clone()
        pictures[turn] = pictures[turn].flip(2)
        return pictures
    return torch.where(turn.reshape(-1, *[1] * (pictures.ndim - 1)), pictures.flip(2), pictures)


def check_pictures(option: str, does: str, shape: tuple[int, ...]) -> None:
    """Raise unless observations of that shape are pictures (B, H, W) or (B, H, W, channels)."""
    if len(shape) not in (3, 4):
        raise InputError(
            f"{option} {does} pictures, (B, height, width) or (B, height, width, channels), got observations "
            f"{shape}; switch it off"
        )
