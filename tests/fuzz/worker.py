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
from tests.fuzz.kind import Files

SECONDS, MEMORY = 10.0, 2 * 2**30
# On a busy machine a process also waits for a core. That is not its own time, but what never ends is ended.
HANGING = 6 * SECONDS


def limit_memory() -> None:
    """As much as there is in use now, and so much more."""
    used = _status("VmSize")
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))


def _status(name: str) -> int:
    """A figure of the kernel's about this process, in bytes."""
    found = re.search(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found.group(1)) * 1024


def _waited() -> float:
    """Seconds for which this thread could have run and had no core."""
    return int(Path("/proc/self/schedstat").read_text().split()[1]) / 1e9


def _use_whole(kind: str, place: Path) -> None:
    """Make damaged files of a kind, and use undamaged ones: these are read."""
    case(kind, 0)
    folder = place / "outer" / "inner" / kind
    ended = used(kind, KINDS[kind].whole(), folder)
    assert ended[0] == "fine", f"undamaged: {ended}"
    shutil.rmtree(place / "outer")


def used(kind: str, files: Files, folder: Path) -> list[str]:
    """Write files of a kind into a folder; how each use of them ended."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return KINDS[kind].uses(folder)


# What a file could have somebody else's code run by; none of what reads files here does any of these.
RUNNING = (
    *("pickle.find_class", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "subprocess.Popen"),
    "socket.connect",
)


def watch() -> list[str]:
    """A list to which whatever runs code is added from now on, as Python's own audit tells it."""
    seen: list[str] = []
    sys.addaudithook(lambda event, _: seen.append(event) if event in RUNNING else None)
    return seen


def run(names: list[str]) -> None:
    """Judge cases and print a line about each."""
    warnings.simplefilter("ignore")
    running = watch()
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        for kind in dict.fromkeys(name.split(":")[0] for name in names):
            _use_whole(
                kind, Path(place)
            )  # what is made and imported once for all cases is not the first one's time
        limit_memory()
        for name in names:
            kind, number = name.split(":")
            folder = Path(place) / "outer" / "inner" / kind
            folder.mkdir(parents=True)
            Path("/proc/self/clear_refs").write_text("5")  # the most in use is counted anew
            signal.setitimer(signal.ITIMER_REAL, HANGING)
            start, waited = time.monotonic(), _waited()
            damage = case(kind, int(number))
            running.clear()
            ended = used(kind, damage.files, folder)
            taken = time.monotonic() - start - (_waited() - waited)
            signal.setitimer(signal.ITIMER_REAL, 0)
            ended.extend(f"code was run: {event}" for event in running)
            shutil.rmtree(folder)
            for left in (path for path in Path(place).rglob("*") if path.name not in ("outer", "inner")):
                ended.append(f"{left} was written outside of its folder")
                shutil.rmtree(left, ignore_errors=True) if left.is_dir() else left.unlink(missing_ok=True)
            peak = _status("VmHWM")
            print(
                json.dumps(
                    {"name": name, "label": damage.label, "ended": ended, "seconds": taken, "peak": peak}
                )
            )
            sys.stdout.flush()


if __name__ == "__main__":
    run(sys.argv[1:])
