"""What the package raises when a caller's mistake is found, and how it words a suggestion."""

from __future__ import annotations

import math
from collections.abc import Iterable
from difflib import get_close_matches


class NeuroplasticError(Exception):
    """Root of everything this package raises on purpose."""


class ConfigError(NeuroplasticError, ValueError):
    """A configuration has a value that no network can be built from."""


class InputError(NeuroplasticError, ValueError):
    """An input tensor has the wrong shape, type or values."""


class RecomputationError(NeuroplasticError, RuntimeError):
    """A network in training mode is called inside a backward pass and does not know which pass is repeated."""


class TransformError(NeuroplasticError, RuntimeError):
    """A transform of PyTorch (vmap, jvp, a second derivative) was asked to go through a neuro-fuzzy network."""


class MissingPackageError(NeuroplasticError, ImportError):
    """A package that only this feature needs is not installed; the message names the extra."""


class CapacityWarning(UserWarning):
    """An attribute asks for one more fuzzy set than `max_terms` has room for."""


class ColumnWarning(UserWarning):
    """Something about a column of a table that its owner should know; the kinds of it say what."""


class ConstantColumnWarning(ColumnWarning):
    """A column has the same value in all rows; it is kept out of the rules."""


class IdentifierWarning(ColumnWarning):
    """A column of whole numbers rises from row to row, as if it only counted them."""


class UnseenCategoryWarning(ColumnWarning):
    """A row to predict has a category that no row of training had; it is taken as none of the known."""


def choose(field: str, value: object, options: Iterable[str]) -> str:
    """Return `value` if it is one of `options`, else raise a ConfigError that suggests the nearest."""
    names = list(options)
    if isinstance(value, str) and value in names:
        return value
    raise ConfigError(
        f"{field} must be one of {', '.join(map(repr, names))}, got {in_short(repr(value), 80)}"
        f"{suggestion(str(value)[:80], names)}"
    )


def suggestion(word: str, names: Iterable[str]) -> str:
    """`; did you mean ...?` with the nearest of the names, or nothing where none is near."""
    close = get_close_matches(word, list(names), n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else ""


def in_short(error: object, most: int = 300) -> str:
    """What an error says, on one line and no longer than a few: a file may be quoted in it."""
    text = " ".join(str(error).split())
    return text if len(text) <= most else f"{text[:most]}..."


def at_least(field: str, value: object, least: int) -> int:
    """Return `value` if it is a whole number of at least `least`, else raise a ConfigError."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ConfigError(f"{field} must be a whole number of at least {least}, got {value!r}")
    return value


def at_most(field: str, value: int, most: int) -> int:
    """Return `value` if it is at most `most`, else raise a ConfigError."""
    if value > most:
        raise ConfigError(f"{field} must be at most {most}, got {in_short(value, 40)}")
    return value


def within(field: str, value: object, low: float, high: float = math.inf, *, open_low: bool = False) -> float:
    """Return `value` if it is a finite number from `low` (`open_low`: above it) to `high`, else raise a ConfigError."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    if not number or not low <= value <= high or (open_low and value == low):  # type: ignore[operator]
        least = f"above {low:g}" if open_low else f"at least {low:g}"
        most = "finite" if high == math.inf else f"at most {high:g}"
        raise ConfigError(f"{field} must be a number {least} and {most}, got {value!r}")
    return value  # type: ignore[return-value]
