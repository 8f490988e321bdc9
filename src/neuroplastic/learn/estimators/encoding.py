"""Columns of a table as the numbers that a network takes: numbers as they are, categories one-hot or as codes."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...decoding import shown
from ...errors import ConfigError, InputError, UnseenCategoryWarning
from ..values import as_dates, as_numbers, need_finite, words_of
from .rows import Numbers

MISSING = "missing"
"""The category of a missing value, where there were such in training."""

# The place of a category that was never seen: none of the known.
UNKNOWN = -1
# Truth values, which files spell in three ways.
_TRUTH = {"TRUE": "True", "true": "True", "FALSE": "False", "false": "False"}
_DAY = np.timedelta64(1, "D")

Kind = Literal["number", "category", "date", "constant"]
Form = Literal["one_hot", "codes", "both"]


@dataclass(frozen=True)
class Column:
    """What a fit found a column of the table to be, and so how its values are read ever after."""

    name: str
    kind: Kind
    categories: tuple[str, ...] = ()
    """the values of a category, in order"""
    fill: float | str | None = None
    """what a missing value is taken as: a number, or a category; None where it is refused, or none of the known"""
    origin: str | None = None
    """of a date: the first one seen, from which days are counted"""

    def __post_init__(self) -> None:
        if (self.kind == "category") != bool(self.categories):
            raise ConfigError(f"column {shown(self.name)} must have categories if it is one, and only then")
        if len(set(self.categories)) < len(self.categories):
            raise ConfigError(f"the categories of column {shown(self.name)} must differ")
        wanted = (str,) if self.kind == "category" else (int, float)
        if self.fill is not None and (not isinstance(self.fill, wanted) or self.kind == "constant"):
            raise ConfigError(
                f"column {shown(self.name)} must have a fill of its kind, got {shown(self.fill)}"
            )
        if self.kind == "category" and self.fill is not None and self.fill not in self.categories:
            raise ConfigError(f"the fill of column {shown(self.name)} must be one of its categories")
        if (self.kind == "date") != (self.origin is not None):
            raise ConfigError(f"column {shown(self.name)} must have an origin if it is a date, and only then")
        if self.origin is not None:
            first = pd.to_datetime(self.origin, errors="coerce", format="ISO8601")
            if pd.isna(first) or first.tzinfo is not None:
                raise ConfigError(
                    f"the origin of column {shown(self.name)} must be a date without a time zone"
                )

    @property
    def title(self) -> str:
        """The name with the unit that it is read in, where that is not the table's own."""
        return f"{self.name} (days)" if self.kind == "date" else self.name

    def numbers(self, values: Any) -> Numbers:
        """A number or date of each row, (N,), missing ones filled."""
        found = days_since(self, values) if self.kind == "date" else as_numbers(self.name, values)
        missing = np.isnan(found)
        if missing.any():
            if self.fill is None:
                row = int(missing.argmax()) + 1
                raise InputError(
                    f"column {self.name!r} has no value in row {row}, and none to take instead; fill it in"
                )
            found = np.where(missing, float(self.fill), found)
        need_finite(self.name, found)
        return found

    def missing(self, values: Any) -> NDArray[np.bool_]:
        """Which rows have no value, (N,); none where that is a category as good as the others."""
        if self.kind == "category":
            return (words_of(pd.Series(values))[0] < 0) & (MISSING not in self.categories)
        found = days_since(self, values) if self.kind == "date" else as_numbers(self.name, values)
        blank: NDArray[np.bool_] = np.isnan(found)
        return blank

    def places(self, values: pd.Series) -> NDArray[np.int64]:
        """The place of each row's category among `categories`, (N,); UNKNOWN for one never seen, which is said."""
        found, strange = self.looked_up(values)
        if strange:
            listed = ", ".join(f"{word!r} in {count} rows" for word, count in list(strange.items())[:5])
            more = f" and {len(strange) - 5} more" if len(strange) > 5 else ""
            warnings.warn(
                f"column {self.name!r} has categories never seen in training: {listed}{more}; "
                "they are taken as none of the known",
                UnseenCategoryWarning,
                stacklevel=2,
            )
        return found

    def looked_up(self, values: pd.Series) -> tuple[NDArray[np.int64], dict[str, int]]:
        """The place of each row's category, (N,), UNKNOWN for one never seen; and in how many rows each such is."""
        numbers, words = words_of(values)
        if set(self.categories) <= {*_TRUTH.values(), MISSING}:
            words = [_TRUTH.get(word, word) for word in words]
        known = {word: place for place, word in enumerate(self.categories)}
        filled = known.get(MISSING, UNKNOWN if self.fill is None else known[str(self.fill)])
        of_word = np.array([*(known.get(word, UNKNOWN) for word in words), filled], dtype=np.int64)
        strange = {word: int((numbers == k).sum()) for k, word in enumerate(words) if word not in known}
        return of_word[numbers], strange  # the number of a missing value is -1: it takes the last


class Input(NamedTuple):
    """One column of numbers that is made of a column of the table."""

    name: str
    column: Column
    role: Literal["number", "code", "hot"]


@dataclass(frozen=True)
class Encoder:
    """How rows of a table become rows of numbers, in the form that a fit chose; constant columns stay out.

    A category is given one-hot, as its code, or as both, the code first.
    """

    columns: tuple[Column, ...]
    form: Form = "one_hot"

    def __post_init__(self) -> None:
        if not self.used:
            raise ConfigError("a table must have a column that is not constant")

    def __call__(self, X: Any) -> Numbers:
        """X (N, D), a data frame or an array of numbers, in the form chosen."""
        return self._stacked(X, self.form)

    def one_hot(self, X: Any) -> Numbers:
        """Rows of numbers, a category as one column of 0 and 1 per value; all 0 for one never seen."""
        return self._stacked(X, "one_hot")

    def codes(self, X: Any) -> Numbers:
        """Rows of numbers, a category as its place among the values, from 0; -1 for one never seen."""
        return self._stacked(X, "codes")

    def _stacked(self, X: Any, form: Form) -> Numbers:
        if isinstance(X, np.ndarray) and not self.has_words:
            # By rows, however the table lies in memory: sums then do not depend on that to the last bit.
            numbers: Numbers = np.ascontiguousarray(X[:, [place for place, _ in self.used]])
            if np.isfinite(numbers).all():
                return numbers
        parts: list[NDArray[Any]] = []
        for place, column in self.used:
            values = X[:, place] if isinstance(X, np.ndarray) else X.iloc[:, place]
            if column.kind != "category":
                parts.append(column.numbers(values)[:, None])
                continue
            codes = column.places(pd.Series(values))[:, None]
            if form != "one_hot":
                parts.append(codes)
            if form != "codes":
                parts.append(codes == np.arange(len(column.categories)))
        stacked: Numbers = np.concatenate(parts, axis=1, dtype=np.float64)
        return stacked

    def missing(self, X: Any) -> NDArray[np.bool_]:
        """Which of the columns of numbers are made of a value that X (N, D) has not, (N, width)."""
        found = np.zeros((len(X), self.width), dtype=np.bool_)
        for place, column in self.used:
            values = X[:, place] if isinstance(X, np.ndarray) else X.iloc[:, place]
            inputs = [k for k, given in enumerate(self.inputs) if given.column is column]
            found[:, inputs] = column.missing(values)[:, None]
        return found

    @property
    def used(self) -> list[tuple[int, Column]]:
        """The columns that are not constant, with their places in the table."""
        return [(place, column) for place, column in enumerate(self.columns) if column.kind != "constant"]

    @property
    def has_words(self) -> bool:
        """Whether some column is not made of numbers."""
        return any(column.kind in ("category", "date") for column in self.columns)

    @cached_property
    def inputs(self) -> tuple[Input, ...]:
        """The columns of numbers: 'age', 'admitted (days)', 'education', 'education = primary'."""
        found = []
        for _, column in self.used:
            if column.kind != "category":
                found.append(Input(column.title, column, "number"))
                continue
            if self.form != "one_hot":
                found.append(Input(column.name, column, "code"))
            if self.form != "codes":
                found += [Input(f"{column.name} = {value}", column, "hot") for value in column.categories]
        return tuple(found)

    @property
    def names(self) -> list[str]:
        """Names of the columns of numbers."""
        return [given.name for given in self.inputs]

    @property
    def width(self) -> int:
        """How many columns of numbers there are."""
        return len(self.inputs)

    def are(self, role: str) -> NDArray[np.bool_]:
        """Which of the columns of numbers are a 'number', a 'code' or 'hot', (width,)."""
        return np.array([given.role == role for given in self.inputs])

    @property
    def crisp(self) -> dict[int, tuple[str, ...]]:
        """The categories of the columns of codes, by their places among the columns of numbers."""
        return {
            place: given.column.categories for place, given in enumerate(self.inputs) if given.role == "code"
        }

    @property
    def groups(self) -> dict[Column, tuple[int, ...]]:
        """Places among the columns of numbers of those that speak of one category, its code first."""
        found: dict[Column, tuple[int, ...]] = {}
        for place, given in enumerate(self.inputs):
            if given.role != "number":
                found[given.column] = (*found.get(given.column, ()), place)
        return found


def column_names(count: int, given: Sequence[object] | None) -> list[str]:
    """The names of a table's columns, as given or x1, x2, ..."""
    return (
        [f"x{number}" for number in range(1, count + 1)] if given is None else [str(name) for name in given]
    )


def plain_numbers(names: Iterable[str]) -> Encoder:
    """The encoder of a table of numbers alone, in which missing ones are refused."""
    return Encoder(tuple(Column(name, "number") for name in names))


def days_since(column: Column, values: Any) -> Numbers:
    """Days from the column's origin to each date, (N,), NaN where it is missing."""
    try:
        dates = as_dates(pd.Series(values))
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(f"column {column.name!r} must hold dates: {error}") from error
    away = dates.to_numpy(dtype="datetime64[us]") - np.datetime64(str(column.origin), "us")
    days: Numbers = np.where(np.isnat(away), np.nan, away / _DAY)
    return days
