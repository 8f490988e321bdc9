"""A first look at a file of rows: its columns with what they are, what is missing, and what may be the target."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from ..errors import InputError
from ..learn.columns import read_table
from ..learn.estimators.deciding import MOST_CATEGORIES, kind_of

MOST_ROWS, MOST_COLUMNS = 200_000, 500
HEAD = 5
EXAMPLES = 4


@dataclass(frozen=True)
class ColumnLook:
    """A column as it is written."""

    name: str
    kind: str
    """'number', 'category', 'date', 'constant', or 'text' where no rule can ask for it"""
    missing: int
    distinct: int
    told: str
    """its range, or its most common values"""


@dataclass(frozen=True)
class TableLook:
    """A file's rows in short."""

    rows: int
    columns: tuple[ColumnLook, ...]
    head: tuple[tuple[str, ...], ...]
    """the first rows as they are written"""
    target: str
    """which column is most likely to be predicted: the last one"""
    ignore: tuple[str, ...]
    """columns that no fit can use"""


def look_at_table(path: str | Path) -> TableLook:
    """Read a file and tell its columns; one with too many rows or columns is refused."""
    frame = read_table(path)
    if len(frame) > MOST_ROWS or frame.shape[1] > MOST_COLUMNS:
        raise InputError(
            f"the table has {len(frame)} rows and {frame.shape[1]} columns; at most {MOST_ROWS} rows and "
            f"{MOST_COLUMNS} columns are taken here: use `neuroplastic fit`"
        )
    columns = tuple(_look(str(name), frame[name]) for name in frame.columns)
    usable = [column.name for column in columns if column.kind not in ("text", "constant")]
    head = tuple(tuple(_shown(value) for value in row) for row in frame.head(HEAD).itertuples(index=False))
    ignore = tuple(column.name for column in columns if column.kind == "text")
    return TableLook(len(frame), columns, head, (usable or [columns[-1].name])[-1], ignore)


def _look(name: str, values: pd.Series) -> ColumnLook:
    known = values.dropna()
    distinct = int(known.astype(str).nunique()) if known.dtype == object else int(known.nunique())
    missing = int(values.isna().sum())
    try:
        kind = kind_of(values)
    except InputError:
        return ColumnLook(name, "text", missing, distinct, "a length of time")
    if distinct <= 1:
        return ColumnLook(name, "constant", missing, distinct, _shown(known.iloc[0]) if len(known) else "")
    if kind == "category":
        common = known.astype(str).value_counts().index[:EXAMPLES]
        more = ", …" if distinct > EXAMPLES else ""
        told = ", ".join(map(_shown, common)) + more
        return ColumnLook(
            name, "category" if distinct <= MOST_CATEGORIES else "text", missing, distinct, told
        )
    return ColumnLook(name, kind, missing, distinct, f"{_shown(known.min())} to {_shown(known.max())}")


def _shown(value: object) -> str:
    if isinstance(value, (float, np.floating)):
        return "" if np.isnan(value) else f"{value:.6g}"
    text = str(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
