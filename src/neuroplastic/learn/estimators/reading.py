"""A table as an estimator is given it: an array, a data frame or a sparse matrix, checked as scikit-learn wants it."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_y, check_consistent_length, validate_data

from ...errors import InputError, in_short
from ...memory import need_memory
from ..values import need_finite
from .rows import Numbers

Table: TypeAlias = "Numbers | pd.DataFrame"


def read(estimator: BaseEstimator, X: Any, *, first: bool, words: bool = False) -> Table:
    """X (N, D) as an array of numbers, some of them missing, or as a data frame where some columns are no numbers.

    The `first` time names and number of the columns are learned, later compared. `words`: columns may be other than
    numbers in an array, too, for they were in the data frame that was learned from.
    """
    if words and not hasattr(X, "iloc") and not issparse(X):
        X = _framed(X)
    _check_frame(X)
    if is_mixed(X):
        return _frame(estimator, X, first=first)
    numbers: Numbers = _dense(validate_data(estimator, X, reset=first, **_NUMBERS))
    return numbers


def read_with_targets(
    estimator: BaseEstimator, X: Any, y: Any, *, first: bool, labels: bool, words: bool = False
) -> tuple[Table, NDArray[Any]]:
    """As `read`, with the targets of the rows: class `labels`, or else numbers, in one or several columns."""
    checks = {"multi_output": not labels, "y_numeric": not labels}
    if words or is_mixed(X):
        table = read(estimator, X, first=first, words=words)
        targets = _check_y(y, **checks, estimator=estimator)
        check_consistent_length(table, targets)
        return table, targets
    _check_frame(X)
    table, targets = validate_data(estimator, X, y, reset=first, **checks, **_NUMBERS)
    return _dense(table), targets


_NUMBERS: dict[str, Any] = {
    "dtype": np.float64,
    "accept_sparse": ("csr", "csc", "coo"),
    "ensure_all_finite": "allow-nan",
}


def is_mixed(X: Any) -> bool:
    """Whether this is a data frame with a column that is no number."""
    if not (hasattr(X, "iloc") and hasattr(X, "columns")):
        return False
    types = pd.api.types
    return not all(types.is_numeric_dtype(kind) and not types.is_bool_dtype(kind) for kind in X.dtypes)


def _check_frame(X: Any) -> None:
    """Raise an InputError where a data frame has nothing, two columns of one name, or an infinite value."""
    if not (hasattr(X, "iloc") and hasattr(X, "columns")):
        return
    if not len(X) or not X.shape[1]:
        raise InputError(f"X must have at least one row and one column, got {X.shape}")
    twice = X.columns[X.columns.duplicated()]
    if len(twice):
        raise InputError(f"X has two columns called {in_short(repr(twice[0]), 80)}; rename one")
    for name, values in X.items():
        if not pd.api.types.is_float_dtype(values.dtype):  # nothing else can be infinite
            continue
        need_finite(name, values.to_numpy(np.float64, na_value=np.nan))


def _frame(estimator: BaseEstimator, X: pd.DataFrame, *, first: bool) -> pd.DataFrame:
    frame: pd.DataFrame = validate_data(estimator, X, reset=first, skip_check_array=True)
    return frame


def _framed(X: Any) -> pd.DataFrame:
    values = np.asarray(X, dtype=object)
    if values.ndim != 2:
        raise InputError(
            f"X must have rows and columns, got shape {values.shape}; use X.reshape(1, -1) for a row"
        )
    return pd.DataFrame(values).infer_objects()


def _dense(X: Any) -> Numbers:
    if not issparse(X):
        numbers: Numbers = X
        return numbers
    need_memory(
        f"X of {X.shape[0]} rows and {X.shape[1]} columns, which a network needs dense,",
        8 * X.shape[0] * X.shape[1],
        torch.device("cpu"),
        "select columns, or reduce them with sklearn.decomposition.TruncatedSVD",
    )
    made: Numbers = X.toarray()
    return made
