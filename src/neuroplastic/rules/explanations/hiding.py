"""Where a decision comes from, by what changes when a square of the picture shows what is usually there.

Hiding a part by one colour shows a network something that it has never seen, and it answers at random. What is usually
there, the median of pictures of play that look alike, is nothing to be surprised at: what was special about the place
is gone, and nothing else.
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
# So many pictures before and after are looked through, and so many of them, those most like the picture, tell what is
# usual: in that light, with the weapon held so. By all of the 81 around it, the muzzle's flash and the lowered gun were
# what is special, most of the misses in DTC: there the hottest square touched a monster in .80 of 160 states, so .89.
REACH, ALIKE = 100, 15
ENOUGH = 2 * REACH + 1
# Pictures are compared by every pixel of so many.
THINNED = 2


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
    """What is usually seen in a case like one of the pictures of play (N, H, W, C), in their order: (H, W, C).

    The median of those around that time which are most like it, itself left out; of one picture alone, that one.
    """
    if pictures.ndim != 4 or not 0 <= around < len(pictures):
        raise InputError(
            f"pictures must have shape (N, H, W, C), and one of them be meant, got {pictures.shape} and {around}"
        )
    first = max(0, min(around - REACH, len(pictures) - ENOUGH))
    others = np.delete(pictures[first : first + ENOUGH], around - first, axis=0)
    if not len(others):
        others = pictures
    thin = others[:, ::THINNED, ::THINNED].astype(np.int16)
    unlike = np.abs(thin - pictures[around, ::THINNED, ::THINNED]).mean(axis=(1, 2, 3))
    alike = others[np.argsort(unlike, kind="stable")[:ALIKE]]
    usual: NDArray[np.uint8] = np.median(alike, axis=0).astype(np.uint8)
    return usual


@torch.no_grad()
def hide(answers: Callable[[Tensor], Tensor], picture: NDArray[np.uint8], usual: NDArray[np.uint8]) -> Hidden:
    """How far what a network answers pictures (B, H, W, C) with, (B, A), moves when each square in turn is hidden."""
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
    values = answers(torch.from_numpy(shown)).double()
    change = (values[1:] - values[:1]).norm(dim=1).cpu().numpy()
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
        int(values[best + 1].argmax()),
    )


def _starts(length: int, side: int, step: int) -> list[int]:
    """Where squares begin, so that they cover all of a length."""
    found = list(range(0, length - side + 1, step))
    return found if found[-1] == length - side else [*found, length - side]
