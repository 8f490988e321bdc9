"""Do raters agree? Ranks, Kendall's W, and intraclass correlations ICC(1,1) and ICC(3,k).

A table of ratings has one row per rater (an evaluator, a task) and one column per subject (a hyperparameter).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from .errors import NoVariationError, TableError, TooFewError

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Concordance:
    """Kendall's W, 0 (no agreement) to 1 (the same ranks), with its chi-square approximation."""

    w: float
    chi_square: float
    df: int
    p: float


@dataclass(frozen=True)
class IntraclassCorrelation:
    """An intraclass correlation of one `kind`, 'ICC(1,1)' or 'ICC(3,k)', its F-test and 95 % interval."""

    kind: str
    value: float
    f: float
    df: tuple[int, int]
    p: float
    interval: tuple[float, float]


def ranks(values: Sequence[float] | Numbers) -> Numbers:
    """Ranks of values, 1 for the greatest; equal values share the mean of their ranks."""
    row = _finite(values, 1)
    result: Numbers = stats.rankdata(-row)
    return result


def kendalls_w(ratings: ArrayLike, *, ties: bool = True) -> Concordance:
    """Agreement of m raters on the ranks of n subjects, `W = 12 S / (m**2 (n**3 - n) - m T)`.

    S is the sum of squared deviations of the subjects' rank sums, T the sum of `t**3 - t` over groups of t
    tied subjects, or 0 without `ties`; `chi**2 = m (n - 1) W`. Raters who all tie everything raise
    NoVariationError.
    """
    table = _ratings(ratings)
    m, n = table.shape
    ranked = stats.rankdata(-table, axis=1)
    sums = ranked.sum(axis=0)
    spread = float(((sums - sums.mean()) ** 2).sum())
    tied = 0
    if ties:
        counts = [np.unique(row, return_counts=True)[1] for row in ranked]
        tied = int(sum((count**3 - count).sum() for count in counts))
    room = m**2 * (n**3 - n) - m * tied
    if room == 0:
        raise NoVariationError("every rater gives all subjects the same value: ranks cannot agree or differ")
    w = 12 * spread / room
    return concordance(w, raters=m, subjects=n)


def concordance(w: float, *, raters: int, subjects: int) -> Concordance:
    """The chi-square test of a W that is known, `chi**2 = m (n - 1) W` with n - 1 degrees of freedom."""
    chi_square = raters * (subjects - 1) * w
    return Concordance(w, chi_square, subjects - 1, float(stats.chi2.sf(chi_square, subjects - 1)))


def icc_1_1(ratings: ArrayLike) -> IntraclassCorrelation:
    """ICC(1,1), one-way, single rater: `(MSB - MSW) / (MSB + (k - 1) MSW)` of n subjects and k raters.

    MSB is the mean square between subjects, MSW that within them. Ratings without any spread raise
    NoVariationError; perfect agreement gives 1 with infinite F.
    """
    between, within, _ = _mean_squares(table := _ratings(ratings))
    return icc_1_1_of_f(_ratio(between, within), raters=table.shape[0], subjects=table.shape[1])


def icc_3_k(ratings: ArrayLike) -> IntraclassCorrelation:
    """ICC(3,k), two-way, consistency of the mean of k raters: `(MSB - MSE) / MSB`.

    MSE is what neither subjects nor raters explain. Edge cases as in `icc_1_1`.
    """
    between, _, error = _mean_squares(table := _ratings(ratings))
    return icc_3_k_of_f(_ratio(between, error), raters=table.shape[0], subjects=table.shape[1])


def icc_1_1_of_f(f: float, *, raters: int, subjects: int) -> IntraclassCorrelation:
    """ICC(1,1) from its F alone, `(F - 1) / (F + k - 1)`, with (n - 1, n (k - 1)) degrees of freedom."""
    df = (subjects - 1, subjects * (raters - 1))
    low, high = _interval(f, df)
    value, low, high = ((1.0 if np.isinf(x) else (x - 1) / (x + raters - 1)) for x in (f, low, high))
    return IntraclassCorrelation("ICC(1,1)", value, f, df, float(stats.f.sf(f, *df)), (low, high))


def icc_3_k_of_f(f: float, *, raters: int, subjects: int) -> IntraclassCorrelation:
    """ICC(3,k) from its F alone, `1 - 1 / F`, with (n - 1, (n - 1) (k - 1)) degrees of freedom.

    No differences between the subjects' means (F = 0) give minus infinity.
    """
    df = (subjects - 1, (subjects - 1) * (raters - 1))
    value, low, high = ((1 - 1 / x if x > 0 else -np.inf) for x in (f, *_interval(f, df)))
    return IntraclassCorrelation("ICC(3,k)", value, f, df, float(stats.f.sf(f, *df)), (low, high))


def _interval(f: float, df: tuple[int, int]) -> tuple[float, float]:
    return f / float(stats.f.ppf(0.975, *df)), f * float(stats.f.ppf(0.975, df[1], df[0]))


def _ratio(between: float, rest: float) -> float:
    if rest == 0:
        if between == 0:
            raise NoVariationError(
                "all ratings of a rater are equal: an intraclass correlation needs a spread"
            )
        return float("inf")
    return between / rest


def _mean_squares(table: Numbers) -> tuple[float, float, float]:
    """Mean squares between subjects, within subjects, and of the residual."""
    k, n = table.shape
    grand, subjects, raters = table.mean(), table.mean(axis=0), table.mean(axis=1, keepdims=True)
    between = k * float(((subjects - grand) ** 2).sum()) / (n - 1)
    within = float(((table - subjects) ** 2).sum()) / (n * (k - 1))
    error = float(((table - subjects - raters + grand) ** 2).sum()) / ((n - 1) * (k - 1))
    # Rounding leaves some 1e-33 where raters agree entirely; that would make F a random large number.
    tiny = np.finfo(float).eps ** 2 * max(float((table**2).sum()), np.finfo(float).tiny) * n * k
    return (
        between if between > tiny else 0.0,
        within if within > tiny else 0.0,
        error if error > tiny else 0.0,
    )


def _ratings(ratings: ArrayLike) -> Numbers:
    table = _finite(ratings, 2)
    if min(table.shape) < 2:
        raise TooFewError(
            f"agreement needs at least 2 raters (rows) and 2 subjects (columns), got {table.shape}"
        )
    return table


def _finite(values: ArrayLike, dimensions: int) -> Numbers:
    try:
        table = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TableError(f"ratings must be numbers in rows of equal length: {error}") from error
    if table.ndim != dimensions:
        raise TableError(f"ratings must have {dimensions} dimensions, got shape {table.shape}")
    if table.size == 0:
        raise TooFewError("there are no ratings; give at least one")
    if not np.isfinite(table).all():
        raise TableError("ratings must be finite: leave out raters or subjects with missing values")
    return table
