"""Words for fuzzy sets by their order (low, medium, high, ...), and default names of variables."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import ConfigError, in_short

ANY = "any"

_WORDS: dict[int, tuple[str, ...]] = {
    1: ("medium",),
    2: ("low", "high"),
    3: ("low", "medium", "high"),
    4: ("very low", "low", "high", "very high"),
    5: ("very low", "low", "medium", "high", "very high"),
    6: ("extremely low", "very low", "low", "high", "very high", "extremely high"),
    7: ("extremely low", "very low", "low", "medium", "high", "very high", "extremely high"),
    8: (
        *("extremely low", "very low", "low", "somewhat low"),
        *("somewhat high", "high", "very high", "extremely high"),
    ),
    9: (
        *("extremely low", "very low", "low", "somewhat low"),
        "medium",
        *("somewhat high", "high", "very high", "extremely high"),
    ),
}
# Up to so many sets have words; more are numbered.
MOST_WORDS = max(_WORDS)


def term_names(count: int) -> tuple[str, ...]:
    """Names of `count` fuzzy sets in the order of their centres; more than nine are numbered levels."""
    return _WORDS.get(count) or tuple(f"level {number}" for number in range(1, count + 1))


def variable_names(names: Sequence[str] | None, count: int, kind: str) -> tuple[str, ...]:
    """The given names, checked, or x1, x2, ... (`kind` 'feature') and y1, y2, ... (`kind` 'output')."""
    if names is None:
        letter = "x" if kind == "feature" else "y"
        return tuple(f"{letter}{number}" for number in range(1, count + 1))
    listed = tuple(str(name) for name in names)
    if len(listed) != count:
        raise ConfigError(f"{kind}_names must name all {count} {kind}s, got {len(listed)}")
    unique("name", listed)
    return listed


def hidden_names(level: int, count: int) -> tuple[str, ...]:
    """Names of the values that level `level` of a hierarchy, from 1, hands up: h1.1, h1.2, ..."""
    return tuple(f"h{level}.{unit}" for unit in range(1, count + 1))


def unique(kind: str, names: Sequence[str]) -> None:
    """Raise a ConfigError if a name is empty, has blanks around it, a quote or a line break, or comes twice."""
    seen: set[str] = set()
    for name in names:
        if not name or name != name.strip() or any(mark in name for mark in "'\n\r"):
            raise ConfigError(
                f"a {kind} must be one line without blanks around it or quotes, got {in_short(repr(name), 80)}"
            )
        if name in seen:
            raise ConfigError(f"a {kind} must be unique, got {in_short(repr(name), 80)} twice")
        seen.add(name)
