"""Who a worker is and whether it still lives, as far as can be told from here."""

from __future__ import annotations

import hashlib
import os
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path

from .slots import Lease


def place() -> str:
    """A name for the set of processes that can see each other: host, its present boot, process namespace."""
    parts = [socket.gethostname()]
    with suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip())
    with suppress(OSError):
        parts.append(os.readlink("/proc/self/ns/pid"))
    return f"{parts[0][:64]}-{hashlib.sha256('|'.join(parts).encode()).hexdigest()[:12]}"


def worker_name(token: str) -> str:
    """The name of the worker that this process is; `token` is what its starter calls it."""
    return f"{place()}/{os.getpid()}/{token}"


def surely_dead(worker: str) -> bool:
    """Whether a worker of this place has no process any more. Of another place nothing can be said: False.

    Nor on Windows, where signal 0 is no question but Ctrl-C: there the beat decides.
    """
    if sys.platform == "win32":
        return False
    where, _, rest = worker.rpartition("/")[0].rpartition("/")
    if where != place() or not rest.isdecimal():
        return False
    try:
        os.kill(int(rest), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    with suppress(OSError, IndexError):  # ended, but not yet collected by its parent
        return Path(f"/proc/{rest}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return False


class Watch:
    """Notices leases whose beat stands still, by this process's own clock."""

    def __init__(self, grace: float) -> None:
        self.grace = grace
        self._seen: dict[tuple[int, int], tuple[int, float]] = {}

    def silent(self, leases: list[Lease]) -> list[Lease]:
        """The leases whose beat has not changed for longer than the grace while this watch looked."""
        now = time.monotonic()
        seen = {}
        late = []
        for lease in leases:
            key = (lease.slot, lease.attempt)
            beat, since = self._seen.get(key, (-1, now))
            seen[key] = (beat, since) if beat == lease.beat else (lease.beat, now)
            if now - seen[key][1] > self.grace:
                late.append(lease)
        self._seen = seen
        return late
