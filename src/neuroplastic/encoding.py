"""Configurations as JSON holds them, the other half of `decoding`: frozen dataclasses by their fields.

A field whose metadata names a group of the catalogue, `field(metadata={"kinds": "learner"})`, is written with the name
of its kind, `{"kind": "dqn", ...}`; every other nested dataclass is of the type that its field declares.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from . import catalog


def encoded(config: Any) -> dict[str, Any]:
    """The fields of a dataclass in a form that JSON can hold."""
    return {entry.name: _field(entry, getattr(config, entry.name)) for entry in dataclasses.fields(config)}


def encoded_kind(group: str, config: Any) -> dict[str, Any]:
    """The same with the name of its kind."""
    return {"kind": catalog.name_of(group, config), **encoded(config)}


def _field(entry: dataclasses.Field[Any], value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        group = entry.metadata.get("kinds")
        return encoded(value) if group is None else encoded_kind(group, value)
    return list(value) if isinstance(value, tuple) else value
