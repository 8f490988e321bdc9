"""A file's columns as the numbers that an estimator learns from, and the same again for new rows."""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..decoding import decoded, shown
from ..errors import ConfigError, InputError, MissingPackageError

# A whole-number target with at most this many values is taken as classes.
MOST_CLASSES = 20
# A text column with more values than this is refused: it is an identifier, not a category.
MOST_CATEGORIES = 50
# A target of many values, with at least this share of numbers, is meant as a number: a word among them is a mistake.
MOSTLY = 0.8
# A column of truth values, which files spell in three ways, has these categories.
TRUTH = {"TRUE": "True", "true": "True", "FALSE": "False", "false": "False"}


class UnusableColumnsError(InputError):
    """Columns of a table can neither be numbers nor categories; `reasons` says why, by their names."""

    def __init__(self, reasons: Mapping[str, str]) -> None:
        super().__init__(reasons)
        self.reasons = reasons

    def __str__(self) -> str:
        return f"{'; '.join(self.reasons.values())}; leave out {', '.join(map(repr, self.reasons))}"


class MixedTargetError(InputError):
    """The target holds words where it is to be a number, or nearly is one; it could be learned as classes."""


def read_table(path: str | Path, *, text: Collection[str] = ()) -> pd.DataFrame:
    """The rows of a CSV or Parquet file; its first line names the columns, each once.

    The columns named in `text` stay as they are written: there 01 is a word, whatever stands in the other rows.
    """
    source = Path(path)
    if not source.is_file():
        raise InputError(f"{source} is not a file; give a CSV or Parquet file")
    parquet = source.suffix.lower() in (".parquet", ".pq")
    try:
        frame = pd.read_parquet(source) if parquet else _read_csv(source, text)
    except ImportError as error:
        raise MissingPackageError(
            f"{source} is a Parquet file, which needs pyarrow: pip install 'neuroplastic[table]'"
        ) from error
    except pd.errors.EmptyDataError as error:
        raise InputError(f"{source} is empty; it needs a header and rows below it") from error
    except pd.errors.ParserWarning as error:
        raise InputError(
            f"{source} has rows with more values than its header has names; name every column"
        ) from error
    except UnicodeDecodeError as error:
        raise InputError(f"{source} is not a table of UTF-8 text ({error}); save it as UTF-8") from error
    except (ValueError, OSError, pd.errors.ParserError) as error:
        reason = str(error).removeprefix("Error tokenizing data. C error: ")
        raise InputError(f"{source} is not a readable table: {reason}") from error
    frame.columns = [str(name).strip() for name in frame.columns]
    if frame.empty:
        raise InputError(f"{source} has no rows below its header")
    twice = frame.columns[frame.columns.duplicated()]
    if len(twice):
        raise InputError(f"{source} has two columns called {twice[0]!r}; rename one")
    return frame


def _read_csv(source: Path, text: Collection[str]) -> pd.DataFrame:
    mark = _separator(source)
    header = pd.read_csv(source, sep=mark, skipinitialspace=True, index_col=False, nrows=0).columns
    words = [name for name in header if name.strip() in text]
    with warnings.catch_warnings():
        # Values beyond the header's names; empty ones, after a mark at the end of each row, do not count.
        warnings.simplefilter("error", pd.errors.ParserWarning)
        frame = pd.read_csv(
            source,
            sep=mark,
            skipinitialspace=True,
            index_col=False,  # else the first column would be taken for the rows' names
            dtype=dict.fromkeys(words, str),
            low_memory=False,  # else a column could be numbers in one part of the file and words in another
        )
    if mark != ";":
        return frame
    return frame.apply(lambda column: column if column.name in words else _decimal_commas(column))


def _separator(source: Path) -> str:
    """The mark between columns: whichever of comma, semicolon, tab and bar is most frequent in the header."""
    with source.open(encoding="utf-8", errors="replace") as file:
        header = file.readline()
    return max(",;\t|", key=header.count)


def _decimal_commas(column: pd.Series) -> pd.Series:
    """Numbers written as 1,5 (usual where semicolons separate columns) as numbers; any other column as it is."""
    if _is_number(column) or pd.api.types.is_bool_dtype(column):
        return column
    try:
        return pd.to_numeric(column.str.replace(",", ".", regex=False))
    except (ValueError, TypeError, AttributeError):
        return column


@dataclass(frozen=True)
class Column:
    """One column of the file: a number, with what stands in for a missing one, or a category with its values."""

    name: str
    fill: float | None = None
    categories: tuple[str, ...] = ()


@dataclass(frozen=True)
class Columns:
    """How rows of a file become rows of numbers: numbers as they are, a category as one column per value."""

    target: str
    classes: bool
    inputs: tuple[Column, ...]

    @classmethod
    def of(
        cls, frame: pd.DataFrame, target: str, *, classes: bool | None = None, ignore: Sequence[str] = ()
    ) -> Columns:
        """Read off a file. `classes` says whether the target is a class; None guesses by its values."""
        for name in (target, *ignore):
            _need(frame, name)
        classes = _is_classes(frame[target], classes)
        names = [name for name in frame.columns if name != target and name not in ignore]
        if not names:
            raise InputError(f"the table needs a column beside the target {target!r}")
        found, refused = [], {}
        for name in names:
            try:
                found.append(_column(frame[name]))
            except InputError as error:
                refused[name] = str(error)
        if refused:
            raise UnusableColumnsError(refused)
        return cls(target, classes, tuple(found))

    @property
    def feature_names(self) -> list[str]:
        """Names of the columns of `matrix`."""
        return [
            name
            for column in self.inputs
            for name in ([f"{column.name} = {value}" for value in column.categories] or [column.name])
        ]

    @property
    def text(self) -> list[str]:
        """Names of the inputs that are categories: `read_table` is to leave their values as they are written."""
        return [column.name for column in self.inputs if column.categories]

    def matrix(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Rows of numbers, one named column per feature. A category never seen is 0 in all of its columns."""
        parts: list[NDArray[np.float64]] = []
        for column in self.inputs:
            _need(frame, column.name)
            if column.categories:
                text = _as_text(frame[column.name])
                text = text.replace(TRUTH) if set(column.categories) <= set(TRUTH.values()) else text
                parts += [(text == value).to_numpy(dtype=np.float64) for value in column.categories]
            else:
                parts.append(_numbers(frame[column.name]).fillna(column.fill).to_numpy(dtype=np.float64))
        values = np.stack(parts, axis=1)
        if not np.isfinite(values).all():
            row, place = np.argwhere(~np.isfinite(values))[0]
            raise InputError(f"column {self.feature_names[place]!r} has an infinite value in row {row + 1}")
        return pd.DataFrame(values, columns=self.feature_names, index=frame.index)

    def targets(self, frame: pd.DataFrame) -> pd.Series:
        """The target of every row, named: text for classes, numbers otherwise."""
        _need(frame, self.target)
        column = frame[self.target]
        return _as_text(column).astype(object) if self.classes else _numbers(column)

    def as_dict(self) -> dict[str, Any]:
        """A form that JSON can hold."""
        return asdict(self)

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> Columns:
        """From what `as_dict` gave; a ConfigError names what differs."""
        columns: Columns = decoded(cls, saved, "columns")
        names = [columns.target, *(column.name for column in columns.inputs)]
        if len(set(names)) < len(names):
            raise ConfigError("columns and target must have different names")
        for column in columns.inputs:
            if (column.fill is None) != bool(column.categories):
                raise ConfigError(f"column {shown(column.name)} must have either a fill or categories")
            if len(set(column.categories)) < len(column.categories):
                raise ConfigError(f"the categories of column {shown(column.name)} must differ")
        return columns


def _need(frame: pd.DataFrame, name: str) -> None:
    if name not in frame.columns:
        close = [known for known in frame.columns if known.lower() == name.lower()]
        close = close or get_close_matches(name, list(frame.columns), n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"it has {', '.join(map(repr, frame.columns[:8]))}"
        raise InputError(f"the table has no column {name!r}; {hint}")


def _is_number(column: pd.Series) -> bool:
    return bool(pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column))


def _is_classes(target: pd.Series, said: bool | None) -> bool:
    """Whether the target is a class, as it is said to be or as it looks.

    Refused are words in what is said to be a number, and a few words that make classes of what is nearly all numbers.
    """
    classes = _looks_like_classes(target) if said is None else said
    found = first_text(target)
    if found is None:
        return classes
    row, value = found
    if not classes:
        raise MixedTargetError(
            f"a number can only be learned from numbers, but {target.name!r} holds {value!r} in row {row}; "
            "mend the file, or learn classes"
        )
    numbers = pd.to_numeric(target.dropna(), errors="coerce").notna().mean()
    if said is None and numbers >= MOSTLY and target.nunique() > MOST_CLASSES:
        raise MixedTargetError(
            f"{target.name!r} is a number in {numbers:.0%} of the rows, but {value!r} in row {row}; mend the file, "
            "or learn classes"
        )
    return classes


def _looks_like_classes(column: pd.Series) -> bool:
    if not _is_number(column):
        return True
    values = column.dropna().unique()
    return len(values) <= MOST_CLASSES and bool(np.all(values == np.round(values)))


def _as_text(column: pd.Series) -> pd.Series:
    """Values as text; whole numbers without a decimal point, so that 1 and 1.0 are one class."""
    if _is_number(column):
        return column.map(lambda value: f"{value:.0f}" if float(value).is_integer() else repr(float(value)))
    return column.astype(str).str.strip()


def _numbers(column: pd.Series) -> pd.Series:
    try:
        return pd.to_numeric(column).astype(np.float64)
    except (ValueError, TypeError) as error:
        row, value = first_text(column) or ("?", str(error))
        raise InputError(f"column {column.name!r} must hold numbers, got {value!r} in row {row}") from error


def first_text(column: pd.Series) -> tuple[int, str] | None:
    """Row (from 1) and value of the first entry that is no number; None where there is none."""
    strange = pd.to_numeric(column, errors="coerce").isna() & column.notna()
    place = int(strange.to_numpy().argmax())
    return (place + 1, str(column.iloc[place])) if strange.any() else None


def _column(column: pd.Series) -> Column:
    name = str(column.name)
    if _is_number(column):
        middle = float(column.median())
        if not math.isfinite(middle):
            raise InputError(f"column {name!r} has no usable value")
        return Column(name, fill=middle)
    categories = tuple(sorted(set(_as_text(column.dropna()))))
    if not 0 < len(categories) <= MOST_CATEGORIES:
        raise InputError(
            f"column {name!r} is text with {len(categories)} different values (at most {MOST_CATEGORIES} can be used)"
        )
    return Column(name, categories=categories)
