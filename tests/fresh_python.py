"""Programs in a Python of their own that costs no start: forked from one that imported PyTorch, and nothing of ours."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import traceback
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Ended:
    """How a program ended, and what it said."""

    returncode: int
    stdout: str
    stderr: str


class FreshPython:
    """Runs programs one after the other, each as `python -c` would in a new process."""

    def __init__(self) -> None:
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        self._server = subprocess.Popen(
            [sys.executable, "-m", __name__],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._notes = Path(tempfile.mkdtemp())

    def __call__(self, code: str, *, folder: Path = ROOT, check: bool = True) -> Ended:
        """Run a program in a folder; an error that it ends with is an AssertionError, unless that is not checked."""
        out, err = self._notes / "out", self._notes / "err"
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(json.dumps([code, str(folder), str(out), str(err)]) + "\n")
        self._server.stdin.flush()
        ended = Ended(int(self._server.stdout.readline()), out.read_text(), err.read_text())
        assert not check or ended.returncode == 0, ended.stderr[-2000:]
        return ended

    def close(self) -> None:
        """End the process that forks."""
        self._server.communicate()
        shutil.rmtree(self._notes)


def serve() -> None:
    """Fork a process for each line of standard input; one line of standard output says how it ended."""
    import torch  # noqa: F401

    while line := sys.stdin.readline():
        pid = os.fork()
        if pid == 0:
            _obey(*json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


def _obey(code: str, folder: str, out: str, err: str) -> None:
    os.chdir(folder)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, path in ((1, out), (2, err)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    sys.path[0] = ""  # as it is for `python -c`
    sys.argv = ["-c"]
    ended = 1
    try:
        exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
        ended = 0
    except SystemExit as wish:
        ended = wish.code if isinstance(wish.code, int) else int(wish.code is not None)
    except BaseException:
        traceback.print_exc()
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(ended)  # to take down all that was imported takes longer than most programs


if __name__ == "__main__":
    serve()
    os._exit(0)  # for the same reason
