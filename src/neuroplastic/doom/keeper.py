"""Ends the engines of a program that is gone, and removes what they left.

Every program that plays has a folder of its own, which this file cleans up. It is also a script that needs nothing but
the standard library and the Linux kernel, in two roles:

    keeper.py launch FOLDER OWNER ENGINE ARGUMENTS...
        Becomes the engine: asks the kernel to be killed when its parent dies, notes itself in FOLDER, starts ENGINE in
        its own place. OWNER is the process id of the program.
    keeper.py watch FOLDER
        Waits in the background until the program is gone, however it ended, and cleans up.

In FOLDER: `alive`, which the program keeps locked for as long as it lives (the kernel drops the lock with the process,
SIGKILL or not); `<instance>.engine`, one note per engine; `starting-*`, one mark per engine whose start has not ended;
`_vizdoom`, which every engine would make.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import re
import shutil
import signal
import sys
import time
from pathlib import Path

SHARED_MEMORY = Path("/dev/shm")
FOLDER_PREFIX = "neuroplastic-doom-"
ENGINE_FOLDER = "_vizdoom"

_KINDS = ("ViZDoomSM", "ViZDoomMQCtr", "ViZDoomMQDoom")
_INSTANCE = re.compile(r"[A-Za-z0-9]+")
_FILE = re.compile(rf"(?:{'|'.join(_KINDS)})[A-Za-z0-9]+")
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG
_YOUNG = 30.0  # seconds in which a folder may not be locked yet
_SETTLED = 1.0  # seconds; a file is created and mapped within microseconds


def start_time(pid: int) -> int | None:
    """When process `pid` began, in clock ticks since boot; None if there is none, or only its zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else int(fields[19])


def remove_shared_memory(instance: str) -> None:
    """Remove the three files of the engine with that instance id. Processes that have them mapped keep them."""
    if _INSTANCE.fullmatch(instance):
        for kind in _KINDS:
            (SHARED_MEMORY / f"{kind}{instance}").unlink(missing_ok=True)


def kill(pid: int, started: int) -> None:
    """Kill process `pid` if it is still the one that began at `started`, and wait until it is gone (2 s at most)."""
    with contextlib.suppress(OSError):  # it may end at any moment
        handle = os.pidfd_open(pid)  # from here on the number cannot pass to another process unnoticed
        try:
            if start_time(pid) == started:
                signal.pidfd_send_signal(handle, signal.SIGKILL)
        finally:
            os.close(handle)
    deadline = time.monotonic() + 2
    while start_time(pid) == started and time.monotonic() < deadline:
        time.sleep(0.01)


def clean(folder: Path) -> None:
    """End every engine noted in `folder`, remove their shared memory, then `folder`. Its program must be gone."""
    for note in folder.glob("*.engine"):
        with contextlib.suppress(OSError, ValueError, KeyError):
            engine = json.loads(note.read_text())
            kill(int(engine["pid"]), int(engine["started"]))
            remove_shared_memory(str(engine["instance"]))
    marks = list(folder.glob("starting-*"))
    if marks:
        _remove_unclaimed(since=min(mark.stat().st_mtime for mark in marks))
    shutil.rmtree(folder, ignore_errors=True)


def sweep(parent: Path) -> None:
    """Clean every folder under `parent` whose program ended and whose watch was ended as well."""
    for folder in parent.glob(f"{FOLDER_PREFIX}*"):
        with contextlib.suppress(OSError):
            status = folder.stat()
            if (
                status.st_uid == os.geteuid()
                and time.time() - status.st_mtime > _YOUNG
                and _abandoned(folder)
            ):
                clean(folder)


def watch(folder: Path) -> None:
    """Clean `folder` once its program is gone. Returns at once; a background process of its own session waits."""
    import fcntl

    if os.fork():
        return
    os.setsid()
    os.chdir("/")
    with open(folder / "alive") as alive:
        fcntl.flock(alive, fcntl.LOCK_EX)
        clean(folder)
    os._exit(0)


def launch(folder: Path, owner: int, engine: str, arguments: list[str]) -> None:
    """Become `engine`, so that it dies with the program `owner`."""
    with contextlib.suppress(OSError, AttributeError):  # without it the watch still ends the engine
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != owner:  # the program ended before the kernel was asked
        return
    os.setsid()  # Ctrl-C is for the program alone, which then closes its engines
    instance = arguments[arguments.index("+viz_instance_id") + 1]
    note = folder / f"{instance}.engine"
    engine_note = {"pid": os.getpid(), "started": start_time(os.getpid()), "instance": instance}
    unfinished = note.with_suffix(".new")
    unfinished.write_text(json.dumps(engine_note))
    unfinished.rename(note)
    os.chdir(folder)  # the engine wants a folder ENGINE_FOLDER where it runs
    os.execv(engine, [engine, *arguments])


def _abandoned(folder: Path) -> bool:
    import fcntl

    with open(folder / "alive") as alive:
        try:
            fcntl.flock(alive, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def _remove_unclaimed(since: float) -> None:
    """Remove what a program left that was killed while it started an engine, before the engine could be noted.

    That is: this user's engine files younger than `since` which no process has mapped, twice, a while apart.
    """
    unclaimed = _unclaimed(since)
    if unclaimed:
        time.sleep(_SETTLED)
        for file in unclaimed & _unclaimed(since):
            file.unlink(missing_ok=True)


def _unclaimed(since: float) -> set[Path]:
    young = set()
    for file in SHARED_MEMORY.iterdir():
        with contextlib.suppress(OSError):
            status = file.stat()
            if _FILE.fullmatch(file.name) and status.st_uid == os.geteuid() and status.st_ctime >= since - 1:
                young.add(file)
    for process in Path("/proc").glob("[0-9]*") if young else ():
        with contextlib.suppress(OSError):
            maps = (process / "maps").read_text(errors="replace")
            young = {file for file in young if str(file) not in maps}
    return young


def _main(role: str, folder: str, *rest: str) -> None:
    if role == "watch":
        watch(Path(folder))
    else:
        launch(Path(folder), int(rest[0]), rest[1], list(rest[2:]))


if __name__ == "__main__":
    _main(*sys.argv[1:])
