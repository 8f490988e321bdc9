"""The file of an SQLite storage: whether it is still the one that was opened."""

from __future__ import annotations

from pathlib import Path

from .storage import StorageError, storage_url


class StorageFile:
    """Remembers a storage's file. A server's storage has none: it tells of its loss itself.

    A file that is removed stays open in every process that had it: SQLite writes on into what nobody will find.
    """

    def __init__(self, address: str) -> None:
        url = storage_url(address)
        self._path = Path(url.removeprefix("sqlite:///")) if url.startswith("sqlite") else None
        self._seen = self._identity()

    def check(self) -> None:
        """Raise a StorageError if the file is gone, or is another one."""
        if self._path is not None and self._identity() != self._seen:
            raise StorageError(
                f"the storage {self._path} was removed or replaced while the study ran; its trials were in that "
                "file: put it back (or a copy of it) and run the same command again"
            )

    def _identity(self) -> tuple[int, int] | None:
        try:
            found = None if self._path is None else self._path.stat()
        except OSError:
            return None
        return None if found is None else (found.st_dev, found.st_ino)
