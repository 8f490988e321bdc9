"""What fits told of themselves, kept beside the models, so that a model's page says it tomorrow, too."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import safe_json
from ..learn.table_model import FILES, TableModel
from ..whole_files import write_whole

if TYPE_CHECKING:
    from ..usecases.opening import OpenedTable

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


def keep_turned(opened: OpenedTable, made: Path, edits: int, *, learned_on: str = "") -> None:
    """Write of a model that was turned by hand what it was, and the sliders of its page with the rules as they are.

    `learned_on` is the table that it learned on from afterwards.
    """
    from ..usecases.trying import sliders_of, turned_sliders

    before = kept_outcome(opened.path) or {}
    sliders = sliders_of(opened) or before.get("sliders")
    kept = {
        "from": opened.path.name,
        "edits": edits + int(before.get("edits", 0)),
        "learned_on": learned_on,
        "table": learned_on or before.get("table", ""),
        "original": before.get("original", before) or None,
        "sliders": sliders and turned_sliders(sliders, TableModel.load(made).estimator.rules_),
    }
    keep_outcome(made, kept)


def held_out(outcome: dict[str, Any] | None) -> tuple[str, float] | None:
    """The measure and the mean of the folds that the rules had not seen, where a fit told them."""
    try:
        contest = ((outcome or {}).get("original") or outcome or {})["contest"]
        return contest["measure"], next(float(mean) for _, ours, mean, _ in contest["ranked"] if ours)
    except (KeyError, TypeError, ValueError, StopIteration):
        return None


def _place(model: Path) -> Path:
    return model.parent / FOLDER / f"{model.name}.json"


def _digest(model: Path) -> str:
    return hashlib.sha256(b"".join((model / name).read_bytes() for name in FILES)).hexdigest()
