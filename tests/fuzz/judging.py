"""A process of its own that opens damaged files; what ends it is found out, and the rest goes on in another."""

import json
import os
import subprocess
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tests.fuzz import worker
from tests.fuzz.worker import MEMORY, SECONDS

ROOT = Path(__file__).parents[2]
BATCH = 2000


@dataclass
class Verdict:
    """What became of many damaged files."""

    files: int = 0
    ended: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    slowest: float = 0.0
    most_memory: int = 0

    def add(self, line: dict[str, Any]) -> None:
        """Count one of them in."""
        self.files += 1
        what = f"{line['name']} ({line['label']})"
        for ended in line["ended"]:
            good = ended in ("fine", "refused")
            self.ended[ended if good else ended.split(":")[0]] += 1
            if not good:
                self.faults.append(f"{what}: {ended}")
        self.slowest = max(self.slowest, line["seconds"])
        self.most_memory = max(self.most_memory, line["peak"])
        if line["seconds"] > SECONDS:
            self.faults.append(f"{what}: took {line['seconds']:.1f} s")
        if line["peak"] > MEMORY:
            self.faults.append(f"{what}: {line['peak']} bytes of memory in use at most")

    def merge(self, other: "Verdict") -> None:
        """Count another's files in."""
        self.files += other.files
        self.ended += other.ended
        self.faults += other.faults
        self.slowest = max(self.slowest, other.slowest)
        self.most_memory = max(self.most_memory, other.most_memory)

    def __str__(self) -> str:
        ended = ", ".join(f"{count} {name}" for name, count in self.ended.most_common())
        return (
            f"{self.files} files: {ended}; slowest {self.slowest:.1f} s, at most {self.most_memory / 1e6:.0f} MB; "
            f"{len(self.faults)} faults"
        )


class Ended(NamedTuple):
    """How a process ended that opened damaged files."""

    code: int
    out: str
    err: str


def started(names: list[str]) -> Ended:
    """Open damaged files in a new process."""
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz.worker", *names],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},  # the worker goes elsewhere
        capture_output=True,
        text=True,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def forked(names: list[str]) -> Ended:
    """Open damaged files in a fork of this process, which has imported everything: no start for each piece of work."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        pid = os.fork()
        if pid == 0:
            _obey(names, out.fileno(), err.fileno())
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        said = []
        for file in (out, err):
            file.seek(0)
            said.append(file.read().decode(errors="replace"))
    return Ended(code, *said)


def _obey(names: list[str], out: int, err: int) -> None:
    code = 1
    try:
        os.dup2(out, 1)
        os.dup2(err, 2)
        worker.run(names)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def judge(names: Iterable[str], opened: Callable[[list[str]], Ended] = started) -> Verdict:
    """Open the damaged files of these names, each KIND:NUMBER, and gather what became of them."""
    verdict, left = Verdict(), list(names)
    while left:
        now, left = left[:BATCH], left[BATCH:]
        done = opened(now)
        lines = [json.loads(line) for line in done.out.splitlines()]
        for line in lines:
            verdict.add(line)
        if len(lines) < len(now):
            verdict.faults.append(f"{now[len(lines)]}: the process ended with {done.code}: {done.err[-500:]}")
            left = now[len(lines) + 1 :] + left
    return verdict
