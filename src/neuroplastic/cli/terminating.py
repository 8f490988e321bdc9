"""What SIGTERM does to a command: what Ctrl-C does, so that it leaves no half-written file behind."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

TERMINATED, INTERRUPTED = 128 + signal.SIGTERM, 128 + signal.SIGINT


class Terminated(KeyboardInterrupt):
    """Somebody asked the command to end by SIGTERM."""


def code_of(error: KeyboardInterrupt) -> int:
    """The exit code of a command that was stopped, as shells tell it."""
    return TERMINATED if isinstance(error, Terminated) else INTERRUPTED


@contextmanager
def terminable() -> Iterator[None]:
    """While inside, the first SIGTERM is a Terminated, and a second one ends the program at once.

    Forked processes end at once, as they would have without; a program that has a handler of its own keeps it.
    """
    ours = os.getpid()

    def end(number: int, _: object) -> None:
        signal.signal(number, signal.SIG_DFL)
        if os.getpid() != ours:
            os.kill(os.getpid(), number)
        raise Terminated

    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
