"""A process of its own that opens damaged files; what ends it is found out, and the rest goes on in another."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

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

    def __str__(self) -> str:
        ended = ", ".join(f"{count} {name}" for name, count in self.ended.most_common())
        return (
            f"{self.files} files: {ended}; slowest {self.slowest:.1f} s, at most {self.most_memory / 1e6:.0f} MB; "
            f"{len(self.faults)} faults"
        )


def judge(names: Iterable[str]) -> Verdict:
    """Open the damaged files of these names, each KIND:NUMBER, and gather what became of them."""
    verdict, left = Verdict(), list(names)
    while left:
        now, left = left[:BATCH], left[BATCH:]
        path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        done = subprocess.run(
            [sys.executable, "-m", "tests.fuzz.worker", *now],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": path},  # the worker goes elsewhere
            capture_output=True,
            text=True,
        )
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        for line in lines:
            verdict.add(line)
        if len(lines) < len(now):
            verdict.faults.append(
                f"{now[len(lines)]}: the process ended with {done.returncode}: {done.stderr[-500:]}"
            )
            left = now[len(lines) + 1 :] + left
    return verdict
