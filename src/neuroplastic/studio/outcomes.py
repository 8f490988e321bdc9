"""What fits told of themselves, kept beside the models, so that a model's page says it tomorrow, too."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from .. import safe_json
from ..learn.table_model import FILES
from ..whole_files import write_whole

FOLDER = ".fits"
MOST_BYTES = 2**20


def keep_outcome(model: Path, outcome: dict[str, Any]) -> None:
    """Write what the fit of a model told."""
    place = _place(model)
    place.parent.mkdir(exist_ok=True)
    write_whole(place, json.dumps({"model": _digest(model), "outcome": outcome}).encode())


def kept_outcome(model: Path) -> dict[str, Any] | None:
    """What the fit of this very model told; None where it is not known, or was of another of that name."""
    place = _place(model)
    try:
        if place.stat().st_size > MOST_BYTES:
            return None
        found = safe_json.parse(place.read_text(encoding="utf-8"))
        outcome = found["outcome"] if found["model"] == _digest(model) else None
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return outcome if isinstance(outcome, dict) else None


def _place(model: Path) -> Path:
    return model.parent / FOLDER / f"{model.name}.json"


def _digest(model: Path) -> str:
    return hashlib.sha256(b"".join((model / name).read_bytes() for name in FILES)).hexdigest()
