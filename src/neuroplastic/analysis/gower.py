"""Gower's distance between rows of mixed type, weighted: numbers by range, everything else by equality."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite, isnan
from numbers import Real
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .errors import AnalysisError, TableError, TooFewError

Numbers = NDArray[np.float64]
Value: TypeAlias = bool | int | float | str | None
Row: TypeAlias = Mapping[str, Value]


def gower_distances(
    rows: Sequence[Row],
    *,
    weights: Mapping[str, float] | None = None,
    ranges: Mapping[str, float] | None = None,
) -> Numbers:
    """Distance of every pair of rows, (n, n) within [0, 1]: `d_ij = sum_c w_c d_ijc / sum_c w_c`.

    A column is numeric where all of its values are numbers (a bool is not one): `d_ijc = |x_i - x_j| / range_c`,
    the range being the column's own unless `ranges` has it; range 0 gives 0. Other columns: 0 where equal, else 1.

    NaN is a value that is not known: the column then counts for no pair with that row, neither above nor below
    the line. None, or a key left out, is a conditional value that does not apply (a temperature without STGE):
    two such are equal (0), one such and a value differ wholly (1).

    `weights` default to 1 for all columns; a column without a weight raises, as does a pair with nothing to
    compare (all weights 0, or NaN everywhere).
    """
    if not rows:
        raise TooFewError("there are no rows to measure distances between; give at least one")
    columns = list(dict.fromkeys(name for row in rows for name in row))
    weight = _weights(columns, weights)
    above = np.zeros((len(rows), len(rows)))
    below = np.zeros_like(above)
    for name in columns:
        values = [row.get(name) for row in rows]
        distance, known = _column(name, values, None if ranges is None else ranges.get(name))
        above += weight[name] * np.where(known, distance, 0.0)
        below += weight[name] * known
    if (below == 0).any():
        i, j = np.argwhere(below == 0)[0]
        raise TableError(
            f"rows {i} and {j} have no column of weight above 0 that both know: drop one, or weigh more columns"
        )
    result: Numbers = above / below
    return result


def _weights(columns: Sequence[str], weights: Mapping[str, float] | None) -> dict[str, float]:
    if weights is None:
        return dict.fromkeys(columns, 1.0)
    missing = [name for name in columns if name not in weights]
    if missing:
        raise AnalysisError(f"weights has no entry for {', '.join(missing)}; give 0 to leave a column out")
    chosen = {name: float(weights[name]) for name in columns}
    for name, value in chosen.items():
        if not (isfinite(value) and value >= 0):
            raise AnalysisError(f"the weight of {name} must be finite and at least 0, got {value!r}")
    return chosen


def _column(name: str, values: Sequence[Value], width: float | None) -> tuple[Numbers, NDArray[np.bool_]]:
    """Distances of one column, and for which pairs it is known on both sides; both (n, n)."""
    unknown = np.array([isinstance(value, Real) and isnan(value) for value in values])
    absent = np.array([value is None for value in values])
    given = [value for value, u, a in zip(values, unknown, absent, strict=True) if not (u or a)]
    if given and all(_is_number(value) for value in given):
        numbers = np.array([float(value) if _is_number(value) else 0.0 for value in values])  # type: ignore[arg-type]
        numbers[unknown] = 0.0
        if not np.isfinite(numbers).all():
            raise TableError(f"{name} must not be infinite: a distance by range is not defined there")
        own = max(map(float, given)) - min(map(float, given))  # type: ignore[arg-type]
        span = own if width is None else float(width)
        if span < own:
            raise AnalysisError(f"the range of {name} must be at least that of its values, {own}, got {span}")
        distance = np.abs(numbers[:, None] - numbers[None, :]) / (span if span > 0 else 1.0)
    else:
        codes = {value: code for code, value in enumerate(dict.fromkeys(map(_label, values)))}
        labels = np.array([codes[_label(value)] for value in values])
        distance = (labels[:, None] != labels[None, :]).astype(np.float64)
    one_absent = absent[:, None] != absent[None, :]
    both_absent = absent[:, None] & absent[None, :]
    distance = np.where(one_absent, 1.0, np.where(both_absent, 0.0, distance))
    return distance, ~(unknown[:, None] | unknown[None, :])


def value_of(text: str) -> Value:
    """What a cell of a file says: a whole number, a number, or text as it is."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _is_number(value: Value) -> bool:
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_))


def _label(value: Value) -> tuple[str, Value]:
    """True and 1 are equal in Python, and NaN is not equal to itself; as labels they are kept apart and together."""
    if isinstance(value, float) and isnan(value):
        return ("nan", None)
    return ("bool" if isinstance(value, (bool, np.bool_)) else "value", value)
