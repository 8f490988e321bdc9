"""From a file to the rows of a table with their targets, and what a fit will take its values as."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from ..errors import ColumnWarning, ConstantColumnWarning
from ..learn.columns import Columns, read_table
from ..learn.estimators.deciding import decide
from ..learn.estimators.encoding import MISSING, Column
from ..learn.table_model import usable_rows
from .requests import TableRequest


@dataclass(frozen=True, eq=False)
class PreparedTable:
    """A file's rows as they are written, their targets, and what a fit will take its values as."""

    name: str
    columns: Columns
    x: pd.DataFrame
    y: pd.Series
    notes: tuple[str, ...]

    @property
    def summary(self) -> str:
        """Rows, inputs and target in one line."""
        what = f"{self.y.nunique()} classes" if self.columns.classes else "a number"
        return f"{len(self.x)} rows, {self.x.shape[1]} inputs; {self.columns.target!r} is {what}"


def prepare_table(request: TableRequest) -> PreparedTable:
    """Read a file; rows without a target are left out. What no fit can use is refused now, not after the folds."""
    frame = read_table(request.data)
    columns = Columns.of(frame, request.target, classes=request.classes, ignore=request.ignore)
    rows = usable_rows(frame, columns)
    x = columns.rows(rows)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ColumnWarning)
        found = decide(x, columns.inputs, np.ones(len(x)))
    notes = [*_losses(frame, rows), *(note for column in found for note in _missing(column, x[column.name]))]
    notes += [f"{name!r} has the same value in all rows, so it says nothing." for name in _constants(found)]
    notes += [
        f"{warning.message}."
        for warning in caught
        if issubclass(warning.category, ColumnWarning)
        and not issubclass(warning.category, ConstantColumnWarning)
    ]
    return PreparedTable(Path(request.data).name, columns, x, columns.targets(rows), tuple(notes))


def _losses(frame: pd.DataFrame, rows: pd.DataFrame) -> list[str]:
    lost = len(frame) - len(rows)
    return [f"{lost} rows without a target were left out."] if lost else []


def _missing(column: Column, values: pd.Series) -> list[str]:
    missing = int(values.isna().sum())
    if not missing or column.kind == "constant":
        return []
    if column.kind == "category":
        return [f"{missing} missing values of {column.name!r} count as a category of their own, {MISSING!r}."]
    assert isinstance(column.fill, float)
    middle = f"{column.fill:g}"
    if column.origin is not None:
        middle = f"{pd.Timestamp(column.origin) + pd.Timedelta(days=column.fill):%Y-%m-%d}"
    return [f"{missing} missing values of {column.name!r} were taken as its median, {middle}."]


def _constants(found: tuple[Column, ...]) -> list[str]:
    return [column.name for column in found if column.kind == "constant"]
