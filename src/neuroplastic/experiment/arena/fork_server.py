"""The main function of the process that forks workers, and what it is asked. See `forking`."""

from __future__ import annotations

import contextlib
import ctypes
import os
import pickle
import signal
import sys
import time
import traceback
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle
from typing import Any

from ... import catalog
from ..protocols import Task
from .board import Board
from .players import Lineup
from .worker import work

_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG
_LOOK_SECONDS = 1.0
_POLL_SECONDS = 0.005


@dataclass(frozen=True)
class Setup:
    """What the process is told first."""

    task: Task
    seed: int
    games: int
    """of the whole arena"""
    modules: tuple[str, ...]
    """what the program imported of its own: Gymnasium may know the task's environment by one of them alone"""
    spares: bool = False


@dataclass(frozen=True)
class Fork:
    """A request for a worker; a handle follows. The answer: its process id, or a reason why there is none."""

    games: tuple[int, ...]


@dataclass(frozen=True)
class End:
    """A request to see a worker off, who is killed after some seconds.

    The answer: its wait status, or None if it was forked by another process than this, which then ended.
    """

    pid: int
    patience: float


def serve(control_handle: int, file: int, program: int) -> None:
    """The main function of the process that forks: obey requests until the program is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(2, 1)  # what an environment prints is no output of the program's
    with contextlib.suppress(EOFError, OSError):  # the program is gone
        _obey(Connection(control_handle), file, program)
    sys.stderr.flush()
    os._exit(0)  # at once; where games need PyTorch, it takes its time to be unloaded


def _obey(control: Connection[Any, Any], file: int, program: int) -> None:
    received = control.recv_bytes()
    try:
        setup: Setup = pickle.loads(received)
        for module in setup.modules:
            catalog.import_own(module)
    except Exception as error:
        control.send(f"{type(error).__name__}: {error}")
        return
    control.send(None)
    board = Board(setup.games, setup.task.observation, file)
    while True:
        # A copy of the program that it forked may hold the pipe open after the program's end.
        while not control.poll(_LOOK_SECONDS):
            if os.getppid() != program:
                return
        request = control.recv()
        control.send(_see_off(request) if isinstance(request, End) else _fork(setup, request, board, control))


def _fork(setup: Setup, request: Fork, board: Board, control: Connection[Any, Any]) -> int | str:
    handle = recv_handle(control)
    server = os.getpid()
    try:
        pid = os.fork()
    except OSError as error:
        os.close(handle)
        return str(error)
    if pid == 0:
        status = 1
        try:
            control.close()
            _die_with(server)
            lineup = Lineup(setup.task, setup.seed, request.games, setup.games, setup.spares)
            work(Connection(handle), lineup, board)
            status = 0
        except (BrokenPipeError, ConnectionError):
            status = 0  # the arena was gone before the answer
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)
    os.close(handle)
    return pid


def _die_with(parent: int) -> None:
    with contextlib.suppress(OSError, AttributeError):  # elsewhere than on Linux, the pipe has to do
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


def _see_off(request: End) -> int | None:
    deadline = time.monotonic() + request.patience
    try:
        while True:
            pid, status = os.waitpid(request.pid, os.WNOHANG)
            if pid:
                return status
            if time.monotonic() >= deadline:
                os.kill(
                    request.pid, signal.SIGKILL
                )  # its number cannot have passed to another: it was not waited for
                return os.waitpid(request.pid, 0)[1]
            time.sleep(_POLL_SECONDS)
    except ChildProcessError:
        return None
