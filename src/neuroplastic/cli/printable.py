"""Names from files on their way to a terminal: what a terminal would take for a command is shown, not obeyed."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO

# Both sets of control characters but line end and tabulator, and those that turn the direction of writing.
_COMMANDS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """The text with `\\x1b` written out where that character stands, and so for all others of its kind."""
    return _COMMANDS.sub(lambda found: found.group().encode("unicode_escape").decode("ascii"), text)


class Printable(io.TextIOBase):
    """A terminal to which only printable text goes."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write what is printable of a text."""
        self._stream.write(printable(text))
        return len(text)

    def flush(self) -> None:
        """Have the terminal show all of it."""
        self._stream.flush()

    def isatty(self) -> bool:
        """It is one."""
        return True

    def fileno(self) -> int:
        """The terminal's descriptor."""
        return self._stream.fileno()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The terminal's."""
        return self._stream.encoding


@contextmanager
def printable_output() -> Iterator[None]:
    """While inside, what is printed on a terminal is printable; a file or a pipe gets it as it is."""
    if not sys.stdout.isatty():
        yield
        return
    with redirect_stdout(Printable(sys.stdout)):
        yield
