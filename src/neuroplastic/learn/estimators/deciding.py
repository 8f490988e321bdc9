"""What each column of a table is, decided once from the rows of a fit: a number, a category, a date, a constant."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ...errors import ConstantColumnWarning, IdentifierWarning, InputError
from ..values import as_dates, as_numbers, words_of
from .encoding import MISSING, Column, days_since
from .rows import Numbers

# A text column with more values than this is refused: it is an identifier, not a category.
MOST_CATEGORIES = 50
# In fewer rows, values that all differ do not make an identifier.
ENOUGH_ROWS = 20
# Text of this form is a date; of the other one it may be, with the day or the month first.
ISO_DATE = r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}.*)?"
UNSURE_DATE = r"\d{1,2}[./]\d{1,2}[./]\d{2,4}"


class UnusableColumnsError(InputError):
    """Columns of a table can neither be numbers nor categories; `reasons` says why, by their names."""

    def __init__(self, reasons: Mapping[str, str]) -> None:
        super().__init__(reasons)
        self.reasons = reasons

    def __str__(self) -> str:
        return f"{'; '.join(self.reasons.values())}; leave out {', '.join(map(repr, self.reasons))}"


def decide(
    X: Any, names: Sequence[str], weight: Numbers, *, keep_constant: bool = False
) -> tuple[Column, ...]:
    """The columns of X (N, D), a data frame or an array of numbers, its rows counting by `weight` (N,).

    A constant column says nothing and stays out of the rules, unless that is all there is, or `keep_constant`: of a
    first few rows. What can be neither number nor category is refused, all such columns at once.
    """
    if not len(weight):
        raise InputError("a fit needs a row whose weight is above 0")
    frame = X if hasattr(X, "iloc") else None
    found, refused = [], {}
    for place, name in enumerate(names):
        values = X[:, place] if frame is None else frame.iloc[:, place]
        try:
            found.append(_column(name, values, weight, keep_constant=keep_constant))
        except InputError as error:
            refused[name] = str(error)
    if refused:
        raise UnusableColumnsError(refused)
    constant = [column.name for column in found if column.kind == "constant"]
    if len(constant) == len(found):
        return decide(X, names, weight, keep_constant=True)
    if constant:
        warnings.warn(
            f"{', '.join(map(repr, constant))} {'has' if len(constant) == 1 else 'have'} the same value in all rows: "
            "kept out of the rules, for that says nothing",
            ConstantColumnWarning,
            stacklevel=2,
        )
    return tuple(found)


def _column(name: str, values: Any, weight: Numbers, *, keep_constant: bool) -> Column:
    kind = "number" if isinstance(values, np.ndarray) else kind_of(values)
    if kind == "category":
        return _category(name, values, weight, keep_constant=keep_constant)
    origin = None
    if kind == "date":
        first = as_dates(values).min()
        origin = None if pd.isna(first) else first.isoformat()
        numbers = np.full(len(values), np.nan)
        if origin is not None:
            numbers = days_since(Column(name, "date", origin=origin), values)
    else:
        numbers = as_numbers(name, values)
    middle = median(numbers, weight)
    if not np.isfinite(middle):
        raise InputError(f"column {name!r} has no usable value")
    if not keep_constant and np.nanmin(numbers) == np.nanmax(numbers):
        return Column(name, "constant")
    if not isinstance(values, np.ndarray) and pd.api.types.is_integer_dtype(values):
        _doubt_identifier(name, numbers)
    return Column(name, "date" if origin is not None else "number", fill=middle, origin=origin)


def kind_of(values: pd.Series) -> str:
    """Whether a column of a data frame holds numbers, dates or else categories."""
    types = pd.api.types
    if types.is_bool_dtype(values) or isinstance(values.dtype, pd.CategoricalDtype):
        return "category"
    if types.is_complex_dtype(values):
        raise InputError(
            f"column {values.name!r} holds complex numbers; give their real and imaginary parts as two columns"
        )
    if types.is_numeric_dtype(values):
        return "number"
    if types.is_datetime64_any_dtype(values):
        return "date"
    if types.is_timedelta64_dtype(values):
        raise InputError(f"column {values.name!r} is a length of time; give it as a number, such as its days")
    inferred = types.infer_dtype(values, skipna=True)
    if inferred in ("integer", "floating", "mixed-integer-float", "decimal", "empty"):
        return "number"
    if inferred in ("date", "datetime", "datetime64"):
        return "date"
    return "date" if inferred == "string" and _are_dates(values.dropna()) else "category"


def _are_dates(words: pd.Series) -> bool:
    if not words.str.fullmatch(ISO_DATE).all():
        return False
    try:
        as_dates(words)
    except (ValueError, TypeError, OverflowError):
        return False
    return True


def _category(name: str, values: pd.Series, weight: Numbers, *, keep_constant: bool) -> Column:
    numbers, words = words_of(values)
    count = len(words)
    if not count:
        raise InputError(f"column {name!r} has no usable value")
    if count > MOST_CATEGORIES:
        raise InputError(
            f"column {name!r} is text with {count} different values (at most {MOST_CATEGORIES} can be used)"
            f"{_how_dates_are_written(words)}"
        )
    if count == len(values) >= ENOUGH_ROWS:
        raise InputError(f"column {name!r} is text that differs in every row, so it says which row it is")
    weights = np.bincount(np.where(numbers < 0, count, numbers), weight, minlength=count + 1)
    of_word = dict(zip([*words, MISSING], weights.tolist(), strict=True))
    if MISSING in words:  # the word itself, and a value that is missing, are one
        of_word[MISSING] = float(weights[words.index(MISSING)] + weights[-1])
    categories = tuple(sorted(word for word, of in of_word.items() if of > 0))
    if len(categories) == 1 and not keep_constant:
        return Column(name, "constant")
    return Column(name, "category", categories, fill=max(categories, key=lambda word: of_word[word]))


def _how_dates_are_written(words: Sequence[str]) -> str:
    dates = all(re.fullmatch(UNSURE_DATE, word) for word in words)
    return "; dates are read where they are written as 2016-12-20" if dates else ""


def _doubt_identifier(name: str, numbers: Numbers) -> None:
    if len(numbers) >= ENOUGH_ROWS and bool((np.diff(numbers) > 0).all()):
        warnings.warn(
            f"{name!r} is a whole number that rises from row to row: if it only counts the rows, leave it out",
            IdentifierWarning,
            stacklevel=2,
        )


def median(values: Numbers, weight: Numbers) -> float:
    """The weighted median of the values that are not missing, NaN where all are; a weight of 2 is the value twice."""
    there = ~np.isnan(values)
    values, weight = values[there], weight[there]
    if not len(values):
        return float("nan")
    if (weight == weight[0]).all():
        low, high = (len(values) - 1) // 2, len(values) // 2
        ordered = np.partition(values, (low, high))
    else:
        order = np.argsort(values, kind="stable")
        ordered, below = values[order], np.cumsum(weight[order])
        low, high = (int(np.searchsorted(below, below[-1] / 2, side=side)) for side in ("left", "right"))
    return float(ordered[low] / 2 + ordered[high] / 2)  # a sum of great numbers could overflow
