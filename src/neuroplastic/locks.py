"""A lock that a process holds on a file and that no death of it can leave behind."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from types import TracebackType

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


# No link is followed: the file is emptied, and a stranger's run could have a link in its place.
_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)


class HeldError(Exception):
    """Somebody else holds the lock; the text says who, as far as that is known."""


class FileLock:
    """Held from `acquire` to `release`, or to the end of the process. Taking it twice, in one process too, fails.

    The kernel keeps the lock, not the file's existence: what a killed process held is free again. The file stays
    where it is, for a lock on a file that was removed and made anew would be another one.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._descriptor: int | None = None

    def acquire(self) -> None:
        """Take the lock, or raise a HeldError at once."""
        if self._descriptor is not None:
            raise HeldError(_holder(self.path))
        descriptor = os.open(self.path, _FLAGS, 0o644)
        try:
            if sys.platform == "win32":
                os.lseek(descriptor, 1 << 20, os.SEEK_SET)  # beyond the text, which others may read
                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            else:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(descriptor)
            raise HeldError(_holder(self.path)) from error
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode())
        self._descriptor = descriptor

    def release(self) -> None:
        """Give the lock back; without one, do nothing."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> FileLock:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def _holder(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()[:200] or "another process"
    except OSError:
        return "another process"
