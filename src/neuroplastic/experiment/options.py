"""The leaves of a configuration by name: what a command line or a search may set."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from .. import catalog
from ..errors import ConfigError, suggestion


class Option(NamedTuple):
    """One leaf: its name, unique over the tree, what it is for, its declared type and its value."""

    name: str
    help: str
    type: Any
    value: Any


def options(config: Any, prefix: str = "") -> Iterator[Option]:
    """Every leaf that a user may set. A part that is of one of several kinds is a leaf too: the name of its kind."""
    hints = typing.get_type_hints(type(config))
    for entry in dataclasses.fields(config):
        value, identity = getattr(config, entry.name), entry.metadata.get("identity", False)
        group = entry.metadata.get("kinds")
        if group is not None and not identity and group != "task":
            yield Option(
                prefix + entry.name, entry.metadata.get("help", ""), str, catalog.name_of(group, value)
            )
        if dataclasses.is_dataclass(value):
            yield from options(value, entry.metadata.get("prefix", prefix))
        elif not identity:
            yield Option(prefix + entry.name, entry.metadata.get("help", ""), hints[entry.name], value)


def with_values(config: Any, values: Mapping[str, Any]) -> Any:
    """The same tree with the named leaves changed; an unknown name is an error that suggests the nearest.

    A part whose kind changes keeps the fields that its new kind has too.
    """
    changed = _replaced(config, values, "")
    known = {option.name for option in options(changed)}
    for name in values:
        if name not in known:
            raise ConfigError(
                f"unknown option {name!r}{_of_another_kind(changed, name) or suggestion(name, known)}"
            )
    return changed


def _of_another_kind(config: Any, name: str) -> str:
    """`: the agent 'nfn' has it, and here the agent is 'dnn'`, where another kind of a part has the leaf; else ''."""
    for entry in dataclasses.fields(config):
        part, group = getattr(config, entry.name), entry.metadata.get("kinds")
        if not dataclasses.is_dataclass(part):
            continue
        if deeper := _of_another_kind(part, name):
            return deeper
        if group is not None:
            have = [
                kind
                for kind in catalog.names(group)
                if name in names_of(catalog.kind(group, kind), entry.metadata.get("prefix", ""))
            ]
            if have:
                what = "agent" if group == "head" else group
                kinds = " or ".join(map(repr, have))
                return f": the {what} {kinds} has it, and here the {what} is {catalog.name_of(group, part)!r}"
    return ""


def names_of(cls: type[Any], prefix: str = "") -> Iterator[str]:
    """The names of the leaves that a configuration of the class may have, those of every kind of its parts."""
    hints = typing.get_type_hints(cls)
    for entry in dataclasses.fields(cls):
        group, inner = entry.metadata.get("kinds"), entry.metadata.get("prefix", prefix)
        if group is not None:
            yield prefix + entry.name
            for kind in catalog.names(group):
                yield from names_of(catalog.kind(group, kind), inner)
        elif dataclasses.is_dataclass(hints[entry.name]):
            yield from names_of(typing.cast(type[Any], hints[entry.name]), inner)
        elif not entry.metadata.get("identity", False):
            yield prefix + entry.name


def _replaced(config: Any, values: Mapping[str, Any], prefix: str) -> Any:
    changes = {}
    for entry in dataclasses.fields(config):
        value, identity = getattr(config, entry.name), entry.metadata.get("identity", False)
        name = prefix + entry.name
        if dataclasses.is_dataclass(value):
            group = entry.metadata.get("kinds")
            if group is not None and group != "task" and not identity and name in values:
                value = _of_kind(group, values[name], value)
            changes[entry.name] = _replaced(value, values, entry.metadata.get("prefix", prefix))
        elif name in values and not identity:
            changes[entry.name] = values[name]
    return dataclasses.replace(config, **changes)


def _of_kind(group: str, name: Any, before: Any) -> Any:
    cls = catalog.kind(group, name)
    if type(before) is cls:
        return before
    shared = {entry.name for entry in dataclasses.fields(cls)} & {
        entry.name for entry in dataclasses.fields(before)
    }
    return cls(**{field: getattr(before, field) for field in shared})


def parse(name: str, kind: Any, text: str) -> Any:
    """A leaf's value from text, by its declared type; a bad value names its field."""
    possible = typing.get_args(kind) if isinstance(kind, types.UnionType) else (kind,)
    lowered = text.strip().lower()
    if type(None) in possible and lowered in ("none", "null"):
        return None
    if bool in possible:
        if lowered in ("true", "yes", "on", "1", "false", "no", "off", "0"):
            return lowered in ("true", "yes", "on", "1")
        raise ConfigError(f"{name} must be true or false, got {text!r}")
    for number in (int, float):
        if number in possible:
            try:
                return number(text)
            except ValueError:
                continue
    if str in possible or any(typing.get_origin(option) is typing.Literal for option in possible):
        return text
    for option in possible:
        if typing.get_origin(option) is tuple:
            return _several(name, typing.get_args(option)[0], text)
    what = "a number" if float in possible else "a whole number"
    raise ConfigError(f"{name} must be {what}, got {text!r}")


def _several(name: str, kind: Any, text: str) -> tuple[Any, ...]:
    """Values with commas between."""
    parts = [part.strip() for part in text.split(",") if part.strip() not in ("", "none")]
    try:
        return tuple(kind(part) for part in parts)
    except ValueError:
        what = "whole numbers" if kind is int else "numbers"
        raise ConfigError(f"{name} must be {what} with commas between, got {text!r}") from None
