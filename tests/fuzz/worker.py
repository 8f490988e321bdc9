"""Opens damaged files one after the other, with limits on memory and time; prints a line of JSON about each.

    python -m tests.fuzz.worker KIND:NUMBER KIND:NUMBER ...

What can be read is also used: a model computes and learns a step, and the commands of the command line are run.
Damage that takes too long ends the process, and the case whose line is missing is the one that did.
"""

import json
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import warnings
from pathlib import Path

from tests.fuzz.cases import KINDS, case

SECONDS, MEMORY = 10.0, 2 * 2**30


def limit_memory() -> None:
    """As much as there is in use now, and so much more."""
    used = _status("VmSize")
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))


def _status(name: str) -> int:
    """A figure of the kernel's about this process, in bytes."""
    found = re.search(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found.group(1)) * 1024


def judged(kind: str, number: int, folder: Path) -> tuple[str, list[str]]:
    """What was done to a file, and how each use of it ended."""
    damage = case(kind, number)
    for name, content in damage.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return damage.label, KINDS[kind].uses(folder)


def run(names: list[str]) -> None:
    """Judge cases and print a line about each."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        for kind in dict.fromkeys(name.split(":")[0] for name in names):
            case(kind, 0)  # what is made once for all cases is not the first one's time
        limit_memory()
        for name in names:
            kind, number = name.split(":")
            folder = Path(place) / "outer" / "inner" / kind
            folder.mkdir(parents=True)
            Path("/proc/self/clear_refs").write_text("5")  # the most in use is counted anew
            signal.setitimer(signal.ITIMER_REAL, 2 * SECONDS)
            start = time.monotonic()
            label, ended = judged(kind, int(number), folder)
            taken = time.monotonic() - start
            signal.setitimer(signal.ITIMER_REAL, 0)
            shutil.rmtree(folder)
            for left in (path for path in Path(place).rglob("*") if path.name not in ("outer", "inner")):
                ended.append(f"{left} was written outside of its folder")
                shutil.rmtree(left, ignore_errors=True) if left.is_dir() else left.unlink(missing_ok=True)
            peak = _status("VmHWM")
            print(json.dumps({"name": name, "label": label, "ended": ended, "seconds": taken, "peak": peak}))
            sys.stdout.flush()


if __name__ == "__main__":
    run(sys.argv[1:])
