"""Edits as a page sends them: objects with their kind and its fields, checked."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

from ..errors import InputError
from ..usecases.edits import (
    AddRule,
    DecideFor,
    Edit,
    FreezeRule,
    MoveSet,
    SetConclusion,
    SetPremise,
    SwitchRule,
)

MOST_EDITS = 500
KINDS: dict[str, type[Edit]] = {
    "set": MoveSet,
    "premise": SetPremise,
    "conclusion": SetConclusion,
    "decide": DecideFor,
    "switch": SwitchRule,
    "freeze": FreezeRule,
    "add": AddRule,
}


def edits_of(given: list[Any]) -> list[Edit]:
    """Edits as a page sends them: objects with their kind and its fields; an InputError for anything else."""
    if len(given) > MOST_EDITS:
        raise InputError(
            f"at most {MOST_EDITS} edits can be made at once; save the model, and go on from there"
        )
    made: list[Edit] = []
    for one in given:
        kind = KINDS.get(str(one.get("kind"))) if isinstance(one, dict) else None
        if kind is None:
            raise InputError(f"an edit must have a kind of {', '.join(KINDS)}")
        types = {entry.name: str(entry.type) for entry in fields(kind)}
        values = {name: _value(name, one.get(name), types[name]) for name in types}
        made.append(kind(**values))
    return made


def _value(name: str, value: Any, kind: str) -> Any:
    wanted: tuple[type, ...] = {"int": (int,), "float": (int, float), "bool": (bool,), "str": (str,)}[kind]
    right = isinstance(value, wanted) and (bool in wanted or not isinstance(value, bool))
    if not right or (isinstance(value, float) and not math.isfinite(value)):
        raise InputError(f"{name} of an edit must be {kind}, got {str(value)[:40]!r}")
    return value
