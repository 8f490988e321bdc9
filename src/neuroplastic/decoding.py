"""Configurations from JSON, by the types that their dataclasses declare: nothing of a file is taken on trust."""

from __future__ import annotations

import dataclasses
import functools
import sys
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Any

from . import catalog
from .errors import ConfigError, suggestion

_WORDS: dict[Any, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a finite number",
    str: "text",
    type(None): "null",
}

_MOST = sys.float_info.max


def decoded(kind: Any, value: Any, name: str) -> Any:
    """A value from JSON as the type says; a ConfigError names what differs, such as `selection.temperature`.

    Types are bool, int (64 bits), float (finite; a whole number is one), str, None, unions and literals of these,
    lists, tuples and mappings from text, and dataclasses, of which fields with a default may be missing. A
    dataclass checks its values itself. `Any` is taken as it is, for the caller to check. A field that `encoding`
    writes with the name of its kind is read by it.
    """
    if dataclasses.is_dataclass(kind):
        return _dataclass(kind, value, name)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return _union(kind, value, name)
    if origin is typing.Literal:
        if value not in arguments or isinstance(value, bool):
            raise _mismatch(kind, value, name)
        return value
    if origin in (list, tuple):
        return origin(_items(kind, value, name))
    if origin in (dict, Mapping):
        return {
            key: decoded(arguments[1], item, f"{name}[{shown(key)}]") for key, item in _pairs(value, name)
        }
    if kind is not Any and not _is_plain(kind, value):
        raise _mismatch(kind, value, name)
    return float(value) if kind is float else value


def shown(value: object, most: int = 60) -> str:
    """A value of a file as an error may show it: on one line, and no longer than a line."""
    # Numbers and short text; the rest is not written out whole only to be cut.
    if isinstance(value, (list, tuple, dict)):
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value)}"
    text = repr(value[: most + 1] if isinstance(value, str) else value)
    return text if len(text) <= most else f"{text[:most]}..."


def _is_plain(kind: Any, value: Any) -> bool:
    if kind is type(None):
        return value is None
    if kind is float:
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return number and -_MOST <= value <= _MOST
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63
    return isinstance(value, kind)


def _union(kind: Any, value: Any, name: str) -> Any:
    options = typing.get_args(kind)
    # The one whole type that is left beside null has the better word on what differs.
    if value is None and type(None) in options:
        return None
    given = [option for option in options if option is not type(None)]
    if len(given) == 1:
        return decoded(given[0], value, name)
    for option in given:
        try:
            return decoded(option, value, name)
        except ConfigError:
            continue
    raise _mismatch(kind, value, name)


def _items(kind: Any, value: Any, name: str) -> list[Any]:
    if not isinstance(value, (list, tuple)):
        raise _mismatch(kind, value, name)
    arguments = typing.get_args(kind)
    if typing.get_origin(kind) is list or arguments[-1] is Ellipsis:
        if _all_plain(arguments[0], value):
            return [float(item) for item in value] if arguments[0] is float else list(value)
        arguments = (arguments[0],) * len(value)
    if len(value) != len(arguments):
        raise ConfigError(f"{name} must have {len(arguments)} entries, got {len(value)}")
    return [
        decoded(inner, item, f"{name}[{place}]")
        for place, (inner, item) in enumerate(zip(arguments, value, strict=True))
    ]


def _all_plain(kind: Any, values: Sequence[Any]) -> bool:
    """Whether all entries of a long list are of a plain type; told in a fraction of the time that one by one takes."""
    found = set(map(type, values))
    if kind is float:
        return found <= {int, float} and all(-_MOST <= value <= _MOST for value in values)
    if kind is int:
        return found == {int} and -(2**63) <= min(values) <= max(values) < 2**63
    return kind is Any or (kind is str and found <= {str})


def _pairs(value: Any, name: str) -> list[tuple[str, Any]]:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise ConfigError(f"{name or 'it'} must be an object, got {shown(value)}")
    return list(value.items())


def _dataclass(kind: Any, value: Any, name: str) -> Any:
    given = dict(_pairs(value, name))
    hints, fields = _declared(kind)
    for key in given:
        if key not in fields:
            near = suggestion(key, fields) if len(key) < 100 else ""
            raise ConfigError(f"{name or 'it'} has an unknown field {shown(key)}{near}")
    for key, field in fields.items():
        needed = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        if needed and key not in given:
            raise ConfigError(f"{name or 'it'} lacks the field {key!r}")
    path = f"{name}." if name else ""
    return kind(**{key: _field(fields[key], hints[key], item, f"{path}{key}") for key, item in given.items()})


def _field(field: dataclasses.Field[Any], kind: Any, value: Any, name: str) -> Any:
    group = field.metadata.get("kinds")
    return decoded(kind, value, name) if group is None else decoded_kind(group, value, name)


def decoded_kind(group: str, value: Any, name: str) -> Any:
    """A part of one of several kinds: an object whose 'kind' is a name of the catalogue's group, and its fields."""
    fields = dict(_pairs(value, name))
    if "kind" not in fields:
        raise ConfigError(f"{name} lacks its 'kind', one of {', '.join(catalog.names(group))}")
    return _dataclass(catalog.kind(group, fields.pop("kind")), fields, name)


@functools.cache
def _declared(kind: Any) -> tuple[dict[str, Any], dict[str, dataclasses.Field[Any]]]:
    """The types of a dataclass, and its fields, by name; reading annotations takes longer than a record does."""
    return typing.get_type_hints(kind), {
        field.name: field for field in dataclasses.fields(kind) if field.init
    }


def _mismatch(kind: Any, value: Any, name: str) -> ConfigError:
    return ConfigError(f"{name} must be {_described(kind)}, got {shown(value)}")


def _described(kind: Any) -> str:
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(_described(option) for option in typing.get_args(kind))
    if origin is typing.Literal:
        return " or ".join(map(repr, typing.get_args(kind)))
    if origin in (list, tuple):
        return "a list"
    return _WORDS.get(kind, "an object")
