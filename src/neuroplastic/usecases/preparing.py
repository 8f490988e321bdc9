"""From a file to rows of numbers with their targets, and what was done to its values on the way."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from ..learn.columns import Columns, read_table
from ..learn.table_model import usable_rows
from .requests import TableRequest


@dataclass(frozen=True, eq=False)
class PreparedTable:
    """A file's rows as numbers and targets, and what was done to its values on the way."""

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
    """Read a file; text columns become categories, missing numbers the median, rows without a target are left out."""
    frame = read_table(request.data)
    columns = Columns.of(frame, request.target, classes=request.classes, ignore=request.ignore)
    rows = usable_rows(frame, columns)
    x = columns.matrix(rows)
    notes = (*_losses(frame, rows, columns), *_constants(x))
    return PreparedTable(Path(request.data).name, columns, x, columns.targets(rows), notes)


def _losses(frame: pd.DataFrame, rows: pd.DataFrame, columns: Columns) -> list[str]:
    notes = []
    if len(rows) < len(frame):
        notes.append(f"{len(frame) - len(rows)} rows without a target were left out.")
    for column in columns.inputs:
        missing = int(rows[column.name].isna().sum())
        if missing and column.categories:
            notes.append(f"{missing} missing values of {column.name!r} count as none of its categories.")
        elif missing:
            notes.append(
                f"{missing} missing values of {column.name!r} were taken as its median, {column.fill:g}."
            )
    return notes


def _constants(x: pd.DataFrame) -> list[str]:
    constant = [name for name in x.columns if x[name].nunique() == 1]
    return [f"{name!r} has the same value in all rows, so it says nothing." for name in constant]
