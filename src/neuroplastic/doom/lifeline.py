"""Ties every engine to the life of the program that started it.

ViZDoom starts the engine itself and leaves it behind, with three files in shared memory, when Python is killed.
On Linux we stand between the two (see `keeper`), in three layers:

1. Engines are started through a launcher that asks the kernel to kill them when this process dies.
2. Once an engine runs, the names of its shared-memory files are removed; both sides keep what they have mapped.
3. One background process per program outlives it by a moment, and removes what a kill in the middle of an engine's
   start leaves, and the program's folder. If it was killed too, the next program that plays does its work.

On other systems, and where no launcher can be executed, engines are closed when Python exits in good order.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
import sys
import tempfile
import threading
import uuid
import warnings
from collections.abc import Iterator
from pathlib import Path

from . import keeper


class Lifeline:
    """This program's folder, with its lock, its launcher and its watch."""

    def __init__(self, engine: Path) -> None:
        import fcntl

        parent = Path(tempfile.gettempdir())
        keeper.sweep(parent)
        self.folder = Path(tempfile.mkdtemp(prefix=keeper.FOLDER_PREFIX, dir=parent))
        # Never closed here: the kernel drops the lock when the process ends.
        self._alive = os.open(self.folder / "alive", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._alive, fcntl.LOCK_EX)
        self._python = [sys.executable, "-I", "-S", os.path.abspath(keeper.__file__)]
        self._watch()
        self.launcher = self._write_launcher(engine)

    @contextlib.contextmanager
    def starting(self) -> Iterator[None]:
        """While inside, the watch knows that shared-memory files may exist of which nobody noted the name."""
        mark = self.folder / f"starting-{uuid.uuid4().hex}"
        mark.touch()
        # Engines that start together would race to make it, and the one that comes second gives up.
        (self.folder / keeper.ENGINE_FOLDER).mkdir(exist_ok=True)
        try:
            yield
        finally:
            mark.unlink(missing_ok=True)

    def started(self, instance: str) -> None:
        """The engine `instance` runs: take its shared-memory files out of the file system."""
        keeper.remove_shared_memory(instance)

    def closed(self, instance: str) -> None:
        """The engine `instance` was closed in good order."""
        (self.folder / f"{instance}.engine").unlink(missing_ok=True)

    def let_go(self) -> None:
        """Called in a forked child: its life is not that of the program."""
        os.close(self._alive)

    def _watch(self) -> None:
        quiet = subprocess.DEVNULL
        subprocess.run(
            [*self._python, "watch", str(self.folder)], stdin=quiet, stdout=quiet, stderr=quiet, check=True
        )

    def _write_launcher(self, engine: Path) -> Path:
        # A shell line, for the kernel cuts long "#!" lines off.
        command = [*self._python, "launch", str(self.folder), str(os.getpid()), str(engine)]
        launcher = self.folder / "launch"
        launcher.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
        launcher.chmod(0o700)
        if not os.access(launcher, os.X_OK):
            raise PermissionError(f"programs in {self.folder} cannot be executed (mounted noexec?)")
        return launcher


_of_this_program: Lifeline | None = None
_unavailable = sys.platform != "linux"
_making = threading.Lock()


def lifeline(engine: Path) -> Lifeline | None:
    """The lifeline of this process, made when first asked for; None where there can be none."""
    global _of_this_program, _unavailable
    with _making:
        if _unavailable:
            return None
        # The folder of a program that runs for weeks may fall to a cleaner of temporary files.
        if _of_this_program is None or not _of_this_program.launcher.exists():
            try:
                _of_this_program = Lifeline(engine)
            except (OSError, subprocess.SubprocessError) as error:
                _unavailable = True
                warnings.warn(
                    f"DOOM engines will outlive this program if it is killed: {error}. "
                    "Set TMPDIR to a folder where programs may be executed.",
                    RuntimeWarning,
                    stacklevel=2,
                )
        return _of_this_program


def _forget_in_child() -> None:
    global _of_this_program, _making
    if _of_this_program is not None:
        _of_this_program.let_go()
    _of_this_program = None
    _making = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_in_child)
