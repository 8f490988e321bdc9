"""A process that forks an arena's workers.

Workers are not forked from the program itself, whose threads, engines and GPU a fork would tear apart, nor started one
by one, which would import everything once for each. One clean process imports what the games need, PyTorch only where
they do, and forks when asked.

All end with the program, however that ends: this process when its pipe breaks, workers, on Linux, by the kernel when
this process ends, and elsewhere when their own pipes break. No file has a name, so none is left behind.

`multiprocessing` has a server like it, but one that runs the program's main script again, and that the workers of a
study, which are daemons, may not use.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from multiprocessing.reduction import send_handle
from typing import Any

from ... import catalog
from ...errors import ConfigError
from ..protocols import Task
from .board import Board, shared_file
from .fork_server import End, Fork, Setup

AVAILABLE = hasattr(os, "fork")
"""Whether this system has worker processes; Windows has not."""

_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from neuroplastic.experiment.arena.fork_server import serve; serve(*map(int, sys.argv[2:]))"
)
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class ForkingError(Exception):
    """No worker could be forked."""


class Forking:
    """The program's side. `board` is shared with every worker."""

    def __init__(self, task: Task, *, games: int, seed: int, spares: bool = False) -> None:
        self.task = task
        try:
            self._setup = pickle.dumps(Setup(task, seed, games, catalog.own_modules(), spares))
        except Exception as error:
            raise ConfigError(
                f"a task that worker processes play must be picklable, and {task.key} is not ({error}); "
                "mend that, or play with processes=0"
            ) from error
        self._file = shared_file(games, task.observation)
        self.board = Board(games, task.observation, self._file)
        self._process: subprocess.Popen[bytes] | None = None
        self._control: Connection[Any, Any]

    def fork(self, games: tuple[int, ...]) -> tuple[int, Connection[Any, Any]]:
        """A worker that plays these games: its process id, and the pipe to it."""
        if self._process is None:
            self._launch()
        ours, theirs = Pipe()
        with theirs:
            answer = self._ask(Fork(games), theirs.fileno())
        if isinstance(answer, str):
            raise ForkingError(answer)
        return answer, ours

    def end(self, pid: int, *, patience: float = 0.0) -> str:
        """See a worker off, who is killed if it does not end in `patience` seconds; how it ended, in words."""
        try:
            status = self._ask(End(pid, patience))
        except ForkingError:
            status = None
        if status is None:
            return "ended with the process that started it"
        code = os.waitstatus_to_exitcode(status)
        return f"ended with status {code}" if code >= 0 else f"was killed by {signal.Signals(-code).name}"

    def close(self) -> None:
        """End the process. Workers should have been seen off before."""
        self._forget()
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _launch(self) -> None:
        ours, theirs = Pipe()
        with theirs:
            handles = (theirs.fileno(), self._file)
            numbers = [str(number) for number in (*handles, os.getpid())]
            self._process = subprocess.Popen(
                [sys.executable, "-c", _START, json.dumps(sys.path), *numbers],
                stdin=subprocess.DEVNULL,
                pass_fds=handles,
                env={**os.environ, **_ONE_THREAD},
                start_new_session=True,  # Ctrl-C is for the program alone
            )
        self._control = ours
        with self._trouble():
            self._control.send_bytes(self._setup)
            refusal = self._control.recv()
        if refusal is not None:
            self._forget()
            raise ConfigError(
                f"worker processes cannot import the task {self.task.key} ({refusal}); define it in a module that can "
                "be imported, not in the program's main script, or play with processes=0"
            )

    def _ask(self, request: Fork | End, handle: int | None = None) -> Any:
        if self._process is None:
            raise ForkingError("the process that starts workers has ended")
        with self._trouble():
            # Not by `send`, whose buffer crashes Python 3.12.1 where the error of a broken pipe holds on to it.
            self._control.send_bytes(pickle.dumps(request))
            if handle is not None:
                send_handle(self._control, handle, self._process.pid)
            return self._control.recv()

    @contextlib.contextmanager
    def _trouble(self) -> Iterator[None]:
        try:
            yield
        except (EOFError, OSError) as error:
            self._forget()
            raise ForkingError("the process that starts workers has ended") from error
        except BaseException:  # Ctrl-C between a request and its answer
            self._forget()
            raise

    def _forget(self) -> None:
        if self._process is not None:
            self._control.close()
            try:
                self._process.wait(5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None
