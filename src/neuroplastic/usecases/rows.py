"""Rows of a file as what was opened takes them: with a table's own columns, else the inputs alone, as numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError, NeuroplasticError, in_short
from .opening import OpenedEstimator, OpenedNetwork, OpenedTable

if TYPE_CHECKING:
    import pandas as pd

TakesRows = OpenedTable | OpenedEstimator | OpenedNetwork


def read_rows(opened: TakesRows, data: str | Path) -> pd.DataFrame:
    """The rows of a file as they are written."""
    from ..learn.columns import read_table

    if isinstance(opened, OpenedTable):
        return opened.model.read(data)
    known = getattr(opened.estimator, "columns_", ()) if isinstance(opened, OpenedEstimator) else ()
    return read_table(data, text=[column.name for column in known if column.kind == "category"])


def inputs_of(opened: TakesRows, frame: pd.DataFrame) -> pd.DataFrame:
    """The inputs of rows: a table's own columns and an estimator's as they are, else numbers."""
    if isinstance(opened, OpenedTable):
        return opened.model.columns.rows(frame)
    if isinstance(opened, OpenedEstimator):
        return frame
    try:
        return frame.astype(float)
    except (OverflowError, TypeError, ValueError) as error:
        raise InputError(f"{opened.path} needs a table with its inputs alone, as numbers: {error}") from error


@contextmanager
def columns_checked(path: Path) -> Iterator[None]:
    """Say of which estimator the columns are others; scikit-learn's error has several lines."""
    try:
        yield
    except NeuroplasticError:
        raise
    except ValueError as error:
        raise InputError(f"{path} needs the columns it was fitted to: {in_short(error)}") from error
