"""Files and folders that appear whole or not at all: models, runs, exports, predictions."""

from __future__ import annotations

import ctypes
import errno
import os
import secrets
import shutil
import stat
from pathlib import Path

from .errors import NeuroplasticError


class IrregularFileError(NeuroplasticError, OSError):
    """A pipe, a device or a folder lies where a file should."""


def need_regular(path: str | os.PathLike[str]) -> None:
    """Raise an IrregularFileError for what may have no end: a pipe, a device, a link to one."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise IrregularFileError(f"{path} is no regular file")


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file, or replace the one that is there, whole or not at all.

    The content goes under a temporary name, is synced and renamed: a crash or a full disk leaves the old file as it
    was. Who may read the file is for the umask to say, as with any other file.
    """
    target = Path(path)
    if not target.parent.is_dir():  # or the system would name a hidden file that nobody asked for
        raise FileNotFoundError(errno.ENOENT, f"there is no folder for {target.name}", str(target.parent))
    # Not by `tempfile`, whose files are the owner's alone. Of two writers each has a name of its own.
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno is not None:
            # Of a full disk the system names no file, and else the hidden one, which nobody asked for.
            raise OSError(error.errno, error.strerror, str(target)) from error
        raise


def put_folder(made: Path, path: Path) -> None:
    """Have a folder that is whole take the name `path`, in place of the folder that is there.

    Linux exchanges the two in one step, so that at every moment one of them has the name, whatever is killed. Where
    that cannot be had there are two steps, and a kill between them leaves the earlier folder beside, hidden.
    """
    if not path.exists():
        made.rename(path)
        return
    earlier = made.with_name(f"{made.name}-old")
    if _exchanged(made, path):
        made.rename(earlier)
    else:
        path.rename(earlier)
        try:
            made.rename(path)
        except BaseException:
            earlier.rename(path)
            raise
    shutil.rmtree(earlier)


def _exchanged(one: Path, other: Path) -> bool:
    """Whether the system exchanged two names: `renameat2` with RENAME_EXCHANGE."""
    try:
        exchange = ctypes.CDLL(None).renameat2
    except (AttributeError, OSError, TypeError):  # another system, an old C library
        return False
    here, flag = -100, 2
    return bool(exchange(here, os.fsencode(one), here, os.fsencode(other), flag) == 0)
