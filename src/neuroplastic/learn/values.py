"""Values of a table's column as numbers, as dates or as words, whoever asks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..errors import InputError

Numbers = NDArray[np.float64]


def as_numbers(name: str, values: Any) -> Numbers:
    """The values of a column as numbers, NaN where they are missing; a word among them is an InputError."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iuf":
        return values.astype(np.float64)
    column = pd.Series(values)
    try:
        numbers: Numbers = pd.to_numeric(column).to_numpy(dtype=np.float64, na_value=np.nan)
        return numbers
    except OverflowError as error:  # a whole number of hundreds of digits
        raise InputError(f"column {name!r} must hold numbers below 1.8e308, got a greater one") from error
    except (ValueError, TypeError) as error:
        row, value = first_text(column) or ("?", str(error))
        raise InputError(f"column {name!r} must hold numbers, got {value!r} in row {row}") from error


def need_finite(name: object, numbers: Numbers) -> None:
    """Raise an InputError that names the first row (from 1) of a column with an infinite value; missing ones pass."""
    infinite = np.isinf(numbers)
    if infinite.any():
        row = int(infinite.argmax()) + 1
        raise InputError(f"column {name!r} has an infinite value in row {row}; leave the row out")


def first_text(values: pd.Series) -> tuple[int, str] | None:
    """Row (from 1) and value of the first entry that is no number; None where there is none."""
    strange = pd.to_numeric(values, errors="coerce").isna() & values.notna()
    place = int(strange.to_numpy().argmax())
    return (place + 1, str(values.iloc[place])) if strange.any() else None


def as_dates(values: pd.Series) -> pd.Series:
    """Dates, also written in the ISO form; those with a time zone in universal time."""
    return pd.to_datetime(values, utc=True, format="ISO8601").dt.tz_localize(None)


def words_of(values: pd.Series) -> tuple[NDArray[np.int64], list[str]]:
    """The different values of a column as words, and the number of each row's word, (N,), -1 where it is missing.

    Whole numbers have no decimal point, so that 1 and 1.0 are one word; blanks around words, and empty ones, do not
    count.
    """
    try:
        numbers, found = pd.factorize(values)
    except TypeError as error:  # a list in a cell, or whatever else cannot be told from others
        raise InputError(
            f"column {values.name!r} must hold words or numbers, a value in each row ({error})"
        ) from error
    words = [_word(value) for value in found]
    distinct = {word: place for place, word in enumerate(dict.fromkeys(word for word in words if word))}
    place_of = np.array([*(distinct.get(word, -1) for word in words), -1], dtype=np.int64)
    return place_of[numbers], list(distinct)


def _word(value: Any) -> str:
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, (float, np.floating)):
        return f"{value:.0f}" if float(value).is_integer() else repr(float(value))
    return str(value).strip()
