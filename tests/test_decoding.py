"""Configurations from JSON: by declared types, every difference named."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import pytest

from neuroplastic.decoding import decoded, shown
from neuroplastic.errors import ConfigError, at_least


@dataclass(frozen=True)
class Inner:
    size: int = 1
    rate: float | str = 0.5

    def __post_init__(self) -> None:
        at_least("inner.size", self.size, 1)


@dataclass(frozen=True)
class Outer:
    name: str
    inner: Inner | None
    pair: tuple[int, float]
    words: tuple[str, ...] = ()
    kind: Literal["a", "b"] = "a"
    sets: Mapping[str, list[bool]] = field(default_factory=dict)


GOOD = {"name": "n", "inner": {"size": 2, "rate": "x"}, "pair": [1, 2], "sets": {"u": [True, False]}}


def test_a_whole_configuration_is_read_with_its_defaults():
    made = decoded(Outer, GOOD, "config")
    assert made == Outer("n", Inner(2, "x"), (1, 2.0), sets={"u": [True, False]})
    assert isinstance(made.pair[1], float)
    assert decoded(Outer, {**GOOD, "inner": None}, "config").inner is None


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"name": 3}, "config.name must be text, got 3"),
        ({"inner": 3}, "config.inner must be an object, got 3"),
        ({"inner": {"size": True}}, "config.inner.size must be a whole number, got True"),
        ({"inner": {"size": 2.0}}, "config.inner.size must be a whole number, got 2.0"),
        ({"inner": {"size": 2**63}}, "config.inner.size must be a whole number, got 9223372036854775808"),
        ({"inner": {"size": 0}}, "inner.size must be a whole number of at least 1, got 0"),
        ({"inner": {"rate": None}}, "config.inner.rate must be a finite number or text, got None"),
        ({"inner": {"rate": float("nan")}}, "must be a finite number or text, got nan"),
        ({"inner": {"sise": 1}}, "config.inner has an unknown field 'sise'; did you mean 'size'?"),
        ({"pair": [1]}, "config.pair must have 2 entries, got 1"),
        ({"pair": 1}, "config.pair must be a list, got 1"),
        ({"pair": [1, 10**400]}, r"config.pair\[1\] must be a finite number"),
        ({"words": ["a", None]}, r"config.words\[1\] must be text, got None"),
        ({"kind": "c"}, "config.kind must be 'a' or 'b', got 'c'"),
        ({"kind": ["a"]}, "config.kind must be 'a' or 'b', got a list of 1"),
        ({"sets": {"u": [0]}}, r"config.sets\['u'\]\[0\] must be true or false, got 0"),
        ({"sets": []}, "config.sets must be an object, got a list of 0"),
    ],
)
def test_what_differs_is_named(changes, complaint):
    with pytest.raises(ConfigError, match=complaint):
        decoded(Outer, GOOD | changes, "config")


def test_what_is_no_object_at_all_is_said_of_the_whole():
    with pytest.raises(ConfigError, match=r"^it must be an object, got a list of 0$"):
        decoded(Outer, [], "")


def test_a_field_without_default_must_be_there():
    with pytest.raises(ConfigError, match="config lacks the field 'pair'"):
        decoded(Outer, {"name": "n", "inner": None}, "config")


def test_values_are_shown_on_one_short_line():
    for value in ("x\n" * 10_000, ["long"] * 10_000, {"a": ["b"] * 10_000}, 10**300, None):
        assert len(shown(value)) < 80
        assert "\n" not in shown(value)
