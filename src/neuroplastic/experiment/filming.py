"""Films episodes of any task as an mp4 that browsers play."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ConfigError, MissingPackageError
from ..learn.experience import Observations
from .game import GameError, Policy
from .protocols import Task
from .showing import Frame, Opens, ShownEpisode, show_episodes

_LEAST_WIDTH, _LEAST_HEIGHT = 320, 60  # pixels; what is smaller is enlarged, so that the caption can be read
_LEFT, _BASE, _FONT_SCALE = 12, 28, 0.7  # of the caption, in pixels and in units of OpenCV's font
_LINE, _REASON_WIDTH = (
    28,
    60,
)  # of what is written below: pixels, and letters (OpenCV's font has ASCII alone)


RecordedEpisode = ShownEpisode


def record_episode(
    task: Task,
    policy: Policy,
    path: str | os.PathLike[str],
    *,
    episode: int = 0,
    seed: int = 0,
    longest: float = 120.0,
    why: Callable[[Observations], str] | None = None,
) -> RecordedEpisode:
    """Play one evaluation episode and film it, as `show_episodes` shows it."""
    opens = film_at(path)
    return show_episodes(task, policy, opens, episodes=(episode,), seed=seed, longest=longest, why=why)[0]


def film_at(path: str | os.PathLike[str]) -> Opens:
    """A film that appears under its name when it is whole; one that was stopped leaves no file."""
    if Path(path).suffix.lower() != ".mp4":
        raise ConfigError(f"a film is an .mp4, got {str(path)!r}")
    return partial(_film, Path(path))


class _Film:
    """An mp4 under way."""

    def __init__(self, path: Path, first: Frame, rate: float) -> None:
        try:
            import cv2  # here, for a machine that only trains need not have them
            import imageio_ffmpeg
        except ImportError as error:
            raise MissingPackageError(
                f"a film needs OpenCV and imageio-ffmpeg ({error}); install them with: pip install 'neuroplastic[gym]'"
            ) from error
        self._cv2: Any = cv2
        self.reason = ""
        """what is written below the caption"""
        self._shape = first.shape
        height, width, _ = _prepared(first).shape
        self._width = width
        # Every size that is left after `_prepared` will do: no further alignment.
        self._writer = imageio_ffmpeg.write_frames(
            str(path), (width, height), fps=rate, quality=6, macro_block_size=2
        )
        self._writer.send(None)

    def show(self, frames: list[Frame], action: str, score: float) -> None:
        """Add frames with a caption."""
        for frame in frames:
            if frame.shape != self._shape or frame.dtype != np.uint8:
                raise GameError(
                    f"all frames of a film must be uint8 of the same shape, {self._shape}, got {frame.dtype} of "
                    f"shape {frame.shape}"
                )
            picture = _prepared(frame)
            self._write_caption(picture, f"{action}   score {score:.4g}")
            lines = textwrap.wrap(self.reason.replace("°", " deg"), _REASON_WIDTH)
            for number, line in enumerate(lines, start=1):
                self._write_line(picture, line, _BASE + number * _LINE)
            self._writer.send(picture)

    def close(self) -> None:
        """Write what is left. Closing twice does nothing."""
        self._writer.close()

    def _write_caption(self, picture: Frame, text: str) -> None:
        self._write_line(picture, text, _BASE)

    def _write_line(self, picture: Frame, text: str, base: int) -> None:
        cv2 = self._cv2
        font = cv2.FONT_HERSHEY_SIMPLEX
        (wide, _), _ = cv2.getTextSize(text, font, _FONT_SCALE, 1)
        scale = _FONT_SCALE * min(1.0, (self._width - 2 * _LEFT) / wide)
        # An outline of shifted letters: thick ones may be wider than thin ones.
        outline = [(x, y, (0, 0, 0)) for x in (-1, 0, 1) for y in (-1, 0, 1) if x or y]
        for x, y, colour in (*outline, (0, 0, (255, 255, 255))):
            cv2.putText(picture, text, (_LEFT + x, base + y), font, scale, colour, 1, cv2.LINE_AA)


@contextmanager
def _film(path: Path, first: Frame, rate: float) -> Iterator[_Film]:
    temporary = path.with_name(f".{path.name}.writing.mp4")
    try:
        film = _Film(temporary, first, rate)
        try:
            yield film
        finally:
            film.close()
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)  # of a film that was stopped


def _prepared(frame: Frame) -> Frame:
    """A copy of its own, large enough to read a caption in, of even height and width: the codec wants that."""
    height, width = frame.shape[:2]
    factor = max(1, -(-_LEAST_WIDTH // width), -(-_LEAST_HEIGHT // height))
    larger = frame.repeat(factor, axis=0).repeat(factor, axis=1)
    height, width = larger.shape[:2]
    return np.ascontiguousarray(np.pad(larger, ((0, height % 2), (0, width % 2), (0, 0))))
