"""Where a decision comes from, by what changes when a square of the picture shows what is usually there.

Hiding a part by one colour shows a network something that it has never seen, and it answers at random. What is usually
there, the median of the pictures of play around that time, is nothing to be surprised at: what was special about the
place is gone, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ...errors import InputError
from ..rule_base import Numbers

Square = tuple[int, int, int, int]
# The square's side is so much of the picture's; it moves by half of it.
PART = 8
# So many pictures before and after tell what is usual. Over the whole of play a figure of the status bar would be more
# special than what is fought: in DTC the hottest square then touched a monster in .70 of 60 states, so in .85.
REACH = 40
ENOUGH = 2 * REACH + 1


@dataclass(frozen=True, eq=False)
class Hidden:
    """What hiding each place changes."""

    heat: Numbers
    """(H, W): mean change over the squares that cover a place"""
    hottest: Square | None
    """top, left, bottom and right (exclusive) of the square that changes most; None where none changes anything"""
    ahead: float
    """how many times as much it changes as any square that does not touch it; infinite where none does"""
    instead: int
    """the action that is chosen when it is hidden"""


def usual_picture(pictures: NDArray[np.uint8], around: int) -> NDArray[np.uint8]:
    """What is usually seen around one of the pictures of play (N, H, W, C), in their order: the median, (H, W, C)."""
    if pictures.ndim != 4 or not 0 <= around < len(pictures):
        raise InputError(
            f"pictures must have shape (N, H, W, C), and one of them be meant, got {pictures.shape} and {around}"
        )
    first = max(0, min(around - REACH, len(pictures) - ENOUGH))
    some = pictures[first : first + ENOUGH]
    usual: NDArray[np.uint8] = np.median(some, axis=0).astype(np.uint8)
    return usual


@torch.no_grad()
def hide(
    preferences: Callable[[Tensor], Tensor], picture: NDArray[np.uint8], usual: NDArray[np.uint8]
) -> Hidden:
    """The length of the change of the actions' preferences, over their mean, for each square in turn."""
    if usual.shape != picture.shape:
        raise InputError(
            f"the usual picture must have the shape of the picture, {picture.shape}, got {usual.shape}"
        )
    height, width = picture.shape[:2]
    side = max(1, min(height, width) // PART)
    step = max(1, side // 2)
    places = [(top, left) for top in _starts(height, side, step) for left in _starts(width, side, step)]
    shown = np.repeat(picture[None], len(places) + 1, axis=0)
    for number, (top, left) in enumerate(places, start=1):
        here = (slice(top, top + side), slice(left, left + side))
        shown[number][here] = usual[here]
    values = preferences(torch.from_numpy(shown)).double()
    over_mean = values - values.mean(dim=1, keepdim=True)
    change = (over_mean[1:] - over_mean[:1]).norm(dim=1).cpu().numpy()
    heat, covered = np.zeros((height, width)), np.zeros((height, width))
    for (top, left), amount in zip(places, change, strict=True):
        heat[top : top + side, left : left + side] += amount
        covered[top : top + side, left : left + side] += 1
    heat /= np.maximum(covered, 1)
    best = int(change.argmax())
    top, left = places[best]
    apart = [abs(t - top) >= side or abs(lft - left) >= side for t, lft in places]
    rest = float(change[apart].max()) if any(apart) else 0.0
    return Hidden(
        heat,
        (top, left, top + side, left + side) if change[best] > 0 else None,
        float(change[best]) / rest if rest > 0 else float("inf"),
        int(over_mean[best + 1].argmax()),
    )


def _starts(length: int, side: int, step: int) -> list[int]:
    """Where squares begin, so that they cover all of a length."""
    found = list(range(0, length - side + 1, step))
    return found if found[-1] == length - side else [*found, length - side]
