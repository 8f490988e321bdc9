"""What is compared of kept files and new ones: what they say, not how a version happens to lay them out."""

import csv
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from safetensors.numpy import load_file

BOOKKEEPING = ("scenario", "task", "agent", "preset", "kind")


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def check_table(
    new: Path, kept: Path, *, leave_out: tuple[str, ...] = (), digits: float | None = None
) -> None:
    """The new table has each column of the kept one and the same in it: to the letter, or numbers within `digits`."""
    new_rows, kept_rows = rows_of(new), rows_of(kept)
    assert len(new_rows) == len(kept_rows)
    for new_row, kept_row in zip(new_rows, kept_rows, strict=True):
        for name in kept_row.keys() - set(leave_out):
            told = f"{kept.name}: {name}"
            if digits is None or not _is_number(kept_row[name]):
                assert new_row[name] == kept_row[name], told
            else:
                assert float(new_row[name]) == pytest.approx(float(kept_row[name]), rel=digits, abs=digits), (
                    told
                )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def leaves_of(node: Any) -> dict[str, Any]:
    """The values in a tree of JSON by their own names, which are unique in a configuration; not what it is of."""
    found: dict[str, Any] = {}
    for name, value in node.items():
        if name == "consequent" and isinstance(value, dict):
            found |= {"consequent": value["kind"], "consequent_init": value["init"]}
            found |= {"rank": value["rank"]} if "rank" in value else {}
        elif isinstance(value, dict):
            found |= leaves_of(value)
        elif name not in BOOKKEEPING:
            found[name] = value
    if found.get("consequent") not in (None, "low_rank"):
        found.pop("rank", None)  # stood beside every consequent once, and meant nothing to the others
    return found


def config_of(path: Path) -> dict[str, Any]:
    """The settings in a run's config.json or in a preset."""
    content = json.loads(path.read_text())
    return leaves_of(content.get("config", content))


def digests_of(folder: Path) -> set[str]:
    """The SHA-256 of every tensor in the safetensors files under a folder."""
    return {
        hashlib.sha256(tensor.tobytes()).hexdigest()
        for path in folder.rglob("*.safetensors")
        for tensor in load_file(path).values()
    }
