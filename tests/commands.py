"""The command line in processes of their own that cost no start: one that has imported everything forks them.

What was imported is what every command needs; a forked command imports the rest, so that packages can be kept from it.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from signal import SIGKILL

ROOT = Path(__file__).parents[1]
BLOCKING = Path(__file__).parent / "blocking"
# Of no use to most tests, and slow to import.
EVENTS = ("tensorboard",)


@dataclass(frozen=True)
class Signal:
    """A signal for a training run that has told of its progress so many times, some seconds after that."""

    number: int
    told: int
    delay: float = 0.0


@dataclass(frozen=True)
class Order:
    """What a forked process is to do."""

    words: Sequence[str]
    folder: str
    without: Sequence[str]
    out: str
    err: str
    signal: Signal | None
    dies_before_file: int | None
    """it kills itself when it is about to put its file of that number, from 1, in place"""
    dies_by: int
    """the signal by which it does"""


@dataclass(frozen=True)
class Done:
    """How a command ended; `code` is minus the number of the signal that killed it, and `told` what it told by then."""

    code: int
    told: int
    out: str
    err: str


class Commands:
    """Runs commands one after the other; modules that are imported beforehand cost no command anything."""

    def __init__(self, beforehand: Sequence[str] = ()) -> None:
        path = [str(BLOCKING), str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        self._server = subprocess.Popen(
            [sys.executable, "-m", __name__, *beforehand],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._notes = Path(tempfile.mkdtemp())

    def __call__(
        self,
        *words: object,
        folder: Path,
        code: int | None = 0,
        without: Sequence[str] = EVENTS,
        signal: Signal | None = None,
        dies_before_file: int | None = None,
        dies_by: int = SIGKILL,
    ) -> Done:
        """Run a command in a folder; unless it ends with `code` (None: any), that is an AssertionError."""
        out, err = self._notes / "out", self._notes / "err"
        order = Order(
            [str(word) for word in words],
            str(folder),
            list(without),
            str(out),
            str(err),
            signal,
            dies_before_file,
            dies_by,
        )
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(json.dumps(asdict(order)) + "\n")
        self._server.stdin.flush()
        answer = json.loads(self._server.stdout.readline())
        done = Done(answer["code"], answer["told"], out.read_text(), err.read_text())
        assert code is None or done.code == code, (
            f"{order.words} ended with {done.code}\n{done.out}{done.err}"
        )
        assert "Traceback" not in done.err, done.err
        return done

    def close(self) -> None:
        """End the process that forks."""
        self._server.communicate()
        shutil.rmtree(self._notes)


def serve() -> None:
    """Fork a process for each line of standard input; one line of standard output says how it ended."""
    import torch
    import torch._dynamo  # as PyTorch's optimizers do

    import neuroplastic.cli.play
    import neuroplastic.cli.train
    import neuroplastic.usecases.explaining
    import neuroplastic.usecases.rules

    with contextlib.suppress(ImportError):  # where nothing is searched for
        import alembic.command  # noqa: F401  (as storages of studies do)
        import sqlalchemy.dialects.sqlite  # noqa: F401

        import neuroplastic.usecases.studies  # noqa: F401

    for module in sys.argv[1:]:
        import_module(module)
    torch.set_num_threads(1)
    while line := sys.stdin.readline():
        given = json.loads(line)
        sent = given.pop("signal")
        order = Order(**given, signal=None if sent is None else Signal(**sent))
        heard, telling = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(heard)
            _obey(order, telling)
        os.close(telling)
        told = _watch(pid, order.signal, heard)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        os.close(heard)
        print(json.dumps({"code": code, "told": told}), flush=True)


def _obey(order: Order, telling: int) -> None:
    import sitecustomize

    from neuroplastic.cli import main, train

    os.chdir(order.folder)
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    for number, path in ((1, order.out), (2, order.err)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    sitecustomize.block(order.without)

    class Telling(train.Meter):
        def show(self, figures: str) -> None:
            os.write(telling, b".")
            super().show(figures)

    train.Meter = Telling  # type: ignore[misc]
    left = order.dies_before_file

    def die(event: str, _: object) -> None:
        nonlocal left
        if left is not None and event == "os.rename":
            left -= 1
            if left == 0:
                os.kill(os.getpid(), order.dies_by)

    sys.addaudithook(die)
    code = main.main(order.words)
    sys.stdout.flush()
    sys.stderr.flush()
    atexit._run_exitfuncs()
    os._exit(code)  # to take down all that was imported takes longer than most commands


def _watch(pid: int, sent: Signal | None, heard: int) -> int:
    """Send the signal when it is time; how often the process told of its progress."""
    told = 0
    while sent is None or told < sent.told:
        words = os.read(heard, 4096 if sent is None else min(4096, sent.told - told))
        if not words:
            return told
        told += len(words)
    time.sleep(sent.delay)
    os.kill(pid, sent.number)
    while words := os.read(heard, 4096):
        told += len(words)
    return told


if __name__ == "__main__":
    serve()
    os._exit(0)  # for the same reason
