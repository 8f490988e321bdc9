"""Tables in files: reading them, and which of their columns are inputs and which is the target."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..decoding import decoded
from ..errors import ConfigError, InputError, MissingPackageError, in_short
from .values import as_numbers, first_text, words_of

# A whole-number target with at most this many values is taken as classes.
MOST_CLASSES = 20
# A target of many values, with at least this share of numbers, is meant as a number: a word among them is a mistake.
MOSTLY = 0.8


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
        raise InputError(
            f"{source} is not a table of UTF-8 text ({in_short(error)}); save it as UTF-8"
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError, OSError, pd.errors.ParserError) as error:
        reason = str(error).removeprefix("Error tokenizing data. C error: ")
        raise InputError(f"{source} is not a readable table: {in_short(reason)}") from error
    frame.columns = [str(name).strip() for name in frame.columns]
    if frame.empty:
        raise InputError(f"{source} has no rows below its header")
    twice = frame.columns[frame.columns.duplicated()]
    if len(twice):
        raise InputError(f"{source} has two columns called {in_short(repr(twice[0]), 80)}; rename one")
    nested = [name for name in frame.columns if _holds_more_than_one(frame[name])] if parquet else []
    if nested:
        raise InputError(
            f"{source} has lists or records in the column {in_short(repr(nested[0]), 80)}; a cell of a table is a "
            "number or a word: leave the column out"
        )
    return frame


def _holds_more_than_one(column: pd.Series) -> bool:
    if not pd.api.types.is_object_dtype(column):
        return False
    return bool(column.map(lambda value: isinstance(value, (list, tuple, dict, set, np.ndarray))).any())


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
class Columns:
    """Which columns of a file are the inputs, and which one the target; what the inputs are, the estimator decides."""

    target: str
    classes: bool
    inputs: tuple[str, ...]

    @classmethod
    def of(
        cls, frame: pd.DataFrame, target: str, *, classes: bool | None = None, ignore: Sequence[str] = ()
    ) -> Columns:
        """Read off a file. `classes` says whether the target is a class; None guesses by its values."""
        for name in (target, *ignore):
            _need(frame, name)
        classes = _is_classes(frame[target], classes)
        names = tuple(str(name) for name in frame.columns if name != target and name not in ignore)
        if not names:
            raise InputError(f"the table needs a column beside the target {target!r}")
        return cls(target, classes, names)

    def rows(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The inputs of rows, as they are written."""
        for name in self.inputs:
            _need(frame, name)
        return frame[list(self.inputs)]

    def targets(self, frame: pd.DataFrame) -> pd.Series:
        """The target of every row, named: text for classes, numbers otherwise."""
        _need(frame, self.target)
        column = frame[self.target]
        if not self.classes:
            return pd.Series(as_numbers(self.target, column), index=column.index, name=column.name)
        numbers, words = words_of(column)
        named = np.array([*words, ""], dtype=object)[numbers]  # the number of a missing one is -1
        return pd.Series(named, index=column.index, name=column.name)

    def as_dict(self) -> dict[str, Any]:
        """A form that JSON can hold."""
        return asdict(self)

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> Columns:
        """From what `as_dict` gave; a ConfigError names what differs."""
        columns: Columns = decoded(cls, saved, "columns")
        check_names(columns.target, columns.inputs)
        return columns


def check_names(target: str, inputs: Sequence[str]) -> None:
    """Raise a ConfigError where two columns of a model, or one and the target, have one name."""
    if len({target, *inputs}) <= len(inputs):
        raise ConfigError("columns and target must have different names")


MOST_NAMED = 8


def _need(frame: pd.DataFrame, name: str) -> None:
    if name not in frame.columns:
        close = [known for known in frame.columns if known.lower() == name.lower()]
        close = close or get_close_matches(name, list(frame.columns), n=1)
        others = len(frame.columns) - MOST_NAMED
        more = f" and {others} more" if others > 0 else ""
        names = ", ".join(map(repr, frame.columns[:MOST_NAMED]))
        hint = f"did you mean {close[0]!r}?" if close else f"it has {names}{more}"
        raise InputError(f"the table has no column {name!r}; {in_short(hint)}")


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
