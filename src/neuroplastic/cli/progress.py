"""How far a command is: a bar on a terminal, and a line now and then where standard error goes to a file."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TextIO

from ..usecases.progress import Headway

if TYPE_CHECKING:
    from typing_extensions import Self

HALF_A_MINUTE = 30.0
# A bar is not drawn more often than this for figures alone: drawing takes longer than many a step.
BETWEEN_DRAWINGS = 0.1
# Steps of a stage that has no more of them are long, and worth a line each.
FEW = 30


class Meter:
    """Counts the steps of one piece of work and tells of them on standard error, or on `stream`.

    On a terminal that is a bar. Elsewhere it is a line after the last step, half a minute after the line before, and
    after every step where steps are few and long (`each`), such as folds or episodes.
    """

    def __init__(
        self,
        what: str,
        total: int,
        *,
        unit: str,
        done: int = 0,
        each: bool = False,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.what, self.total, self.unit, self.done = what, total, unit, done
        self.figures = ""
        self._each, self._clock = each, clock
        self._stream = sys.stderr if stream is None else stream
        self._bar: Any = None
        if self._stream.isatty():
            from tqdm import tqdm

            self._bar = tqdm(total=total, initial=done, desc=what, unit=unit, file=self._stream)
        self._told = clock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def update(self, by: int = 1) -> None:
        """Count steps that are done."""
        self.done += by
        if self._bar is not None:
            self._bar.update(by)
        else:
            self._tell(now=self._each or self.done >= self.total)

    def show(self, figures: str) -> None:
        """Change the figures that stand beside the count, such as `loss 0.31`; call it before `update`."""
        self.figures = figures
        if self._bar is None:
            self._tell()
            return
        due = self._clock() - self._told >= BETWEEN_DRAWINGS
        self._bar.set_postfix_str(figures, refresh=due)
        if due:
            self._told = self._clock()

    def write(self, line: str) -> None:
        """Print a line to standard output, above the bar where there is one."""
        if self._bar is not None:
            self._bar.write(line)
        else:
            print(line, flush=True)
            self._told = self._clock()

    def _tell(self, *, now: bool = False) -> None:
        if not now and self._clock() - self._told < HALF_A_MINUTE:
            return
        figures = f", {self.figures}" if self.figures else ""
        print(
            f"{self.what}: {self.done} of {self.total} {self.unit}s{figures}", file=self._stream, flush=True
        )
        self._told = self._clock()


class Stages:
    """Shows the steps that a use case tells of, one piece of progress for each of its stages."""

    def __init__(self, *, stream: TextIO | None = None) -> None:
        self._stream = stream
        self._now: Meter | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._now is not None:
            self._now.__exit__()

    def __call__(self, step: Headway) -> None:
        """Show a step."""
        if self._now is None or self._now.what != step.stage:
            self.__exit__()
            each = step.total <= FEW
            self._now = Meter(step.stage, step.total, unit=step.unit, each=each, stream=self._stream)
        self._now.show(step.figures)
        if step.done > self._now.done:
            self._now.update(step.done - self._now.done)
