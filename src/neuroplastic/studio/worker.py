"""Work in a process of its own: what fails there fails there alone, and nothing outlives the studio."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from queue import Empty, SimpleQueue
from typing import Any

from ..errors import NeuroplasticError, in_short

END = "end"
"""The command after which a worker is to give back what it holds and return."""
FAILED, CRASHED = "failed", "crashed"
# Seconds that a worker has to end by itself.
PATIENCE = 3.0


class Channel:
    """The worker's end: commands come in, messages go out. When the studio is gone, so is the worker."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._commands: SimpleQueue[tuple[str, Any]] = SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()

    def send(self, kind: str, content: Any) -> None:
        """Tell the studio something."""
        self._connection.send((kind, content))

    def command(self, timeout: float | None = 0.0) -> tuple[str, Any] | None:
        """The next command; None where none comes within so many seconds (None: however long it takes)."""
        try:
            return self._commands.get(timeout=timeout) if timeout != 0.0 else self._commands.get_nowait()
        except Empty:
            return None

    def _listen(self) -> None:
        while True:
            try:
                self._commands.put(self._connection.recv())
            except (EOFError, OSError):
                os._exit(1)  # at once, in the midst of a fit too: nobody is there to hear of it


Work = Callable[..., None]
"""Is called with a Channel and its arguments, in the new process; a function of a module."""
Hear = Callable[[str, Any], None]
"""Is told each message, in a thread of the studio; `failed` with the reason and `crashed` with None are the last."""


def _begin(connection: Connection, work: Work, arguments: tuple[Any, ...]) -> None:
    channel = Channel(connection)
    try:
        work(channel, *arguments)
    except NeuroplasticError as error:
        channel.send(FAILED, in_short(error, 600))
    except Exception as error:
        channel.send(FAILED, in_short(f"{type(error).__name__}: {error}", 600))
    finally:
        connection.close()


class Worker:
    """A function that runs in another process, as the studio sees it."""

    def __init__(self, work: Work, *arguments: Any, hear: Hear, may_have_children: bool = False) -> None:
        context = get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(
            target=_begin, args=(theirs, work, arguments), daemon=not may_have_children
        )
        self._process.start()
        theirs.close()  # so that the end of the process is the end of the pipe
        self._sending = threading.Lock()
        self._listener = threading.Thread(target=self._listen, args=(hear,), daemon=True)
        self._listener.start()

    @property
    def pid(self) -> int | None:
        """Of the process."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self._process.is_alive()

    def tell(self, kind: str, content: Any = None) -> None:
        """Send a command; a worker that is gone hears none."""
        with self._sending, contextlib.suppress(OSError, ValueError):
            self._connection.send((kind, content))

    def close(self, patience: float = PATIENCE) -> None:
        """End the process, after so many seconds by force, and wait for that. Not for the event loop's thread."""
        self.tell(END)
        self._process.join(patience)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._listener.join(PATIENCE)
        self._connection.close()

    def _listen(self, hear: Hear) -> None:
        told = False
        while True:
            try:
                kind, content = self._connection.recv()
            except (EOFError, OSError):
                break
            told = told or kind == FAILED
            hear(kind, content)
        if not told:
            hear(CRASHED, None)
