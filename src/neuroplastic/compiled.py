"""Where the C libraries lie that are built at install time, if they were."""

from __future__ import annotations

import ctypes
import importlib.machinery
import os
from pathlib import Path


def built(folder: Path, name: str) -> tuple[ctypes.CDLL, Path] | None:
    """The library `name` beside its sources; None where it was not built, or none is wanted (NEUROPLASTIC_KERNEL=0)."""
    if os.environ.get("NEUROPLASTIC_KERNEL") == "0":
        return None
    for suffix in importlib.machinery.EXTENSION_SUFFIXES:
        path = folder / f"{name}{suffix}"
        if path.exists():
            return ctypes.CDLL(str(path)), path
    return None
