"""Files that appear whole or not at all: models, runs, exports, predictions."""

from __future__ import annotations

import os
import secrets
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
    # Not by `tempfile`, whose files are the owner's alone. Of two writers each has a name of its own.
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
