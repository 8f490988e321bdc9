"""Frames with what there is to tell of a decision: heat over the game, words and action values below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import MissingPackageError
from .showing import Frame

# Pixels: what is narrower is enlarged; the panel below has a row for each action, of which there are at least so many.
_LEAST_WIDTH, _ROW, _LEAST_ROWS, _MARGIN = 480, 22, 8, 12
_WORDS = 0.55  # the words' part of the width; the values have the rest
_SCALES = (0.5, 0.45, 0.4, 0.35, 0.3, 0.25)  # of the font, the first at which all words fit
_NAME, _BAR = 0.38, 90  # of an action: the font's scale, and the longest bar in pixels
_PAPER, _INK, _FAINT, _TAKEN = (24, 24, 28), (235, 235, 235), (120, 120, 130), (250, 200, 60)
_HOT, _HEAT = (255, 60, 20), 0.6  # its colour, and how much of it at the hottest place


@dataclass(frozen=True, eq=False)
class Told:
    """What there is to tell of one decision."""

    words: Sequence[str]
    """paragraphs"""
    actions: Sequence[str]
    values: Sequence[float]
    """of the actions"""
    action: int
    """the one that is taken"""
    heat: NDArray[np.float64] | None = None
    """(h, w): how much each place of what was seen counts; None where nothing was looked at"""


def paint(frame: Frame, told: Told) -> Frame:
    """The frame (H, W, 3), enlarged if it is small, with heat over it and a panel below."""
    factor = max(1, -(-_LEAST_WIDTH // frame.shape[1]))
    game = np.ascontiguousarray(frame.repeat(factor, axis=0).repeat(factor, axis=1))
    if told.heat is not None:
        game = _heated(game, told.heat)
    rows = max(_LEAST_ROWS, len(told.actions))
    panel = np.empty((rows * _ROW + 2 * _MARGIN, game.shape[1], 3), np.uint8)
    panel[:] = _PAPER
    _write_words(panel, told.words, round(_WORDS * game.shape[1]))
    _draw_values(panel, told)
    return np.concatenate([game, panel])


def _heated(game: Frame, heat: NDArray[np.float64]) -> Frame:
    greatest = float(heat.max())
    if greatest <= 0:
        return game
    part = np.clip(heat / greatest, 0.0, 1.0).astype(np.float32)
    larger = _cv2().resize(part, game.shape[1::-1], interpolation=_cv2().INTER_LINEAR)
    share = _HEAT * (larger**2)[..., None]
    mixed: Frame = ((1 - share) * game + share * np.array(_HOT, np.float32)).astype(np.uint8)
    return mixed


def _write_words(panel: Frame, words: Sequence[str], width: int) -> None:
    cv2, room = _cv2(), panel.shape[0] - 2 * _MARGIN
    plain = [text.replace("°", " deg") for text in words]  # the font has ASCII alone
    for scale in _SCALES:
        line = round(40 * scale)
        lines = [part for text in plain for part in (*_wrapped(text, width - 2 * _MARGIN, scale), "")][:-1]
        if len(lines) * line <= room:
            break
    for number, part in enumerate(lines):
        where = (_MARGIN, _MARGIN + round((number + 0.75) * line))
        cv2.putText(panel, part, where, _font(), scale, _INK, 1, cv2.LINE_AA)


def _wrapped(text: str, width: int, scale: float) -> list[str]:
    """Lines of whole words, none wider than so many pixels unless a single word is."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and _cv2().getTextSize(longer, _font(), scale, 1)[0][0] <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _draw_values(panel: Frame, told: Told) -> None:
    cv2, width = _cv2(), panel.shape[1]
    names, right = round(_WORDS * width), width - _MARGIN
    longest = max(cv2.getTextSize(name, _font(), _NAME, 1)[0][0] for name in told.actions)
    bar = min(_BAR, (right - names) // 3)
    scale = _NAME * min(1.0, (right - names - bar - 8) / longest)
    low, high = min(told.values), max(told.values)
    for number, (name, value) in enumerate(zip(told.actions, told.values, strict=True)):
        colour = _TAKEN if number == told.action else _FAINT
        base = _MARGIN + number * _ROW
        wide = cv2.getTextSize(name, _font(), scale, 1)[0][0]
        cv2.putText(panel, name, (right - bar - 8 - wide, base + 15), _font(), scale, colour, 1, cv2.LINE_AA)
        long = round(bar * (value - low) / (high - low)) if high > low else 0
        cv2.rectangle(panel, (right - bar, base + 4), (right - bar + long, base + 17), colour, -1)


def _font() -> int:
    return int(_cv2().FONT_HERSHEY_SIMPLEX)


def _cv2() -> Any:
    try:
        import cv2
    except ImportError as error:
        raise MissingPackageError(
            f"words in a film need OpenCV ({error}); install it with: pip install 'neuroplastic[gym]'"
        ) from error
    return cv2
