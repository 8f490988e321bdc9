"""Where uploads of a studio lie: a folder of its own among the models, which the next one removes if it was killed."""

from __future__ import annotations

import contextlib
import re
import secrets
import shutil
from pathlib import Path

from ..locks import FileLock, HeldError
from ..whole_files import write_whole

UPLOADS = ".uploads"
_LOCK = "lock"


class Uploads:
    """A folder that is locked while its studio lives. A new studio removes those of studios that were killed."""

    def __init__(self, models: Path) -> None:
        self._all = models / UPLOADS
        self._own = self._all / secrets.token_hex(8)
        self._lock: FileLock | None = None
        if self._all.is_dir() and not self._all.is_symlink():
            for left in [path for path in self._all.iterdir() if not path.is_symlink()]:
                _remove(left)
            self._tidy()

    def write(self, name: str, content: bytes) -> Path:
        """Keep a file under a name, which may have a folder before it; its path."""
        if self._lock is None:
            self._own.mkdir(parents=True)
            self._lock = FileLock(self._own / _LOCK)
            self._lock.acquire()
        path = self._own / name
        path.parent.mkdir(exist_ok=True)
        write_whole(path, content)
        return path

    def close(self) -> None:
        """Remove all of it."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None
            shutil.rmtree(self._own, ignore_errors=True)
        self._tidy()

    def _tidy(self) -> None:
        with contextlib.suppress(OSError):  # not empty: another studio's
            self._all.rmdir()


def safe_name(given: str) -> str:
    """What a person calls a table as a name of a file: pages and errors tell of it by that."""
    stem = Path(given.replace("\\", "/")).name.removesuffix(".csv")
    plain = re.sub(r"[^\w. -]+", "-", stem).strip(" .-")[:40]
    return f"{plain or 'table'}.csv"


def _remove(left: Path) -> None:
    """Remove what a studio left, unless it lives; files that lie here directly are of an earlier version."""
    if left.is_file():
        left.unlink(missing_ok=True)
        return
    try:
        with FileLock(left / _LOCK):
            pass
    except (HeldError, OSError):
        return
    shutil.rmtree(left, ignore_errors=True)
