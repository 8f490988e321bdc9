"""A window that shows frames at their own pace; of Python's own library, so that nothing has to be installed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import NeuroplasticError
from .showing import Frame

# Pixels; what is narrower is enlarged. A game that lags by more seconds than this does not try to catch up.
_LEAST_WIDTH, _LAG = 320, 0.5


class NoDisplayError(NeuroplasticError):
    """There is no display that a window could be opened on."""


class WindowClosedError(NeuroplasticError):
    """The window was closed by whoever watched."""


class _Window:
    """A window under way."""

    def __init__(self, root: Any, first: Frame, rate: float) -> None:
        import tkinter

        self._tk, self._root = tkinter, root
        self.reason = ""
        self._pause, self._due = 1.0 / rate, time.monotonic()
        self._factor = max(1, -(-_LEAST_WIDTH // first.shape[1]))
        self._open = True
        root.protocol("WM_DELETE_WINDOW", self._close)
        width = first.shape[1] * self._factor
        self._picture = tkinter.Label(root)
        self._caption = tkinter.Label(root, anchor="w", justify="left", wraplength=width)
        self._picture.pack()
        self._caption.pack(fill="x")

    def show(self, frames: list[Frame], action: str, score: float) -> None:
        """Show frames, each for as long as it lasts in the game; a WindowClosedError if the window is gone."""
        for frame in frames:
            self._caption.configure(
                text=f"{action}   score {score:.4g}" + (f"\n{self.reason}" if self.reason else "")
            )
            image = self._tk.PhotoImage(data=_ppm(frame), format="PPM")
            image = image if self._factor == 1 else image.zoom(self._factor)
            self._picture.configure(image=image)
            self._kept = image  # Tk does not keep it
            self._root.update()
            self._due = max(self._due + self._pause, time.monotonic() - _LAG)
            while self._open and (left := self._due - time.monotonic()) > 0:
                time.sleep(min(left, 0.02))
                self._root.update()
            if not self._open:
                raise WindowClosedError("the window was closed")

    def _close(self) -> None:
        self._open = False


def _ppm(frame: Frame) -> bytes:
    height, width, _ = frame.shape
    return b"P6 %d %d 255 " % (width, height) + frame.tobytes()


def check_display() -> None:
    """Raise a NoDisplayError that says why, where no window can be opened."""
    _root().destroy()


def _root() -> Any:
    try:
        import tkinter
    except ImportError as error:
        raise NoDisplayError(f"this Python has no tkinter ({error})") from error
    try:
        return tkinter.Tk(className="neuroplastic")
    except tkinter.TclError as error:
        raise NoDisplayError(str(error)) from error


@contextmanager
def window(first: Frame, rate: float) -> Iterator[_Window]:
    """A window for frames like the first one, at so many a second."""
    root = _root()
    try:
        yield _Window(root, first, rate)
    finally:
        root.destroy()
