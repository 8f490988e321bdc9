"""Two agents on one task: F-test of the variances, Student's or Welch's t-test of the means, Cohen's d."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf, sqrt

from scipy import stats

from .errors import AnalysisError, NoVariationError
from .samples import Sample

Episodes = Sample | Iterable[float]
"""Either the raw returns of the episodes or their mean, SD and number."""


@dataclass(frozen=True)
class FTest:
    """Two-sided F-test of equal variances, `F = sd_a**2 / sd_b**2`."""

    statistic: float
    df: tuple[int, int]
    p: float


@dataclass(frozen=True)
class TTest:
    """Two-sided t-test of equal means; `kind` is 'Student' or 'Welch', which also decides `df`."""

    kind: str
    statistic: float
    df: float
    p: float


@dataclass(frozen=True)
class Comparison:
    """All of the paper's statistics of a candidate against a reference."""

    reference: Sample
    candidate: Sample
    variances: FTest
    means: TTest
    d: float


def sample(episodes: Episodes) -> Sample:
    """Raw returns as a Sample; a Sample as it is."""
    return episodes if isinstance(episodes, Sample) else Sample.of(episodes)


def f_test(a: Episodes, b: Episodes) -> FTest:
    """F-test of equal variances, `p = 2 min(cdf(F), sf(F))` with (n_a - 1, n_b - 1) degrees of freedom.

    With no spread in a the statistic is 0, with none in b infinite, and p is 0; with none in either
    NoVariationError is raised, because 0 / 0 says nothing.
    """
    a, b = sample(a), sample(b)
    if a.sd == 0 and b.sd == 0:
        raise NoVariationError("both samples have SD 0: an F-test needs a spread in at least one of them")
    df = (a.n - 1, b.n - 1)
    statistic = a.sd**2 / b.sd**2 if b.sd > 0 else inf
    p = 2 * min(float(stats.f.cdf(statistic, *df)), float(stats.f.sf(statistic, *df)))
    return FTest(statistic, df, min(p, 1.0))


def student_t_test(a: Episodes, b: Episodes) -> TTest:
    """Student's t-test of `mean_a - mean_b`, variances taken as equal, n_a + n_b - 2 degrees of freedom.

    NoVariationError if neither sample has a spread.
    """
    return _t_test(sample(a), sample(b), "Student")


def welch_t_test(a: Episodes, b: Episodes) -> TTest:
    """Welch's t-test of `mean_a - mean_b`, variances of their own, degrees of freedom by Welch-Satterthwaite.

    NoVariationError if neither sample has a spread.
    """
    return _t_test(sample(a), sample(b), "Welch")


def _t_test(a: Sample, b: Sample, kind: str) -> TTest:
    if a.sd == 0 and b.sd == 0:
        raise NoVariationError("both samples have SD 0: a t-test needs a spread in at least one of them")
    parts = (a.sd**2 / a.n, b.sd**2 / b.n)
    if kind == "Welch":
        df = sum(parts) ** 2 / (parts[0] ** 2 / (a.n - 1) + parts[1] ** 2 / (b.n - 1))
        error = sqrt(sum(parts))
    else:
        df = float(a.n + b.n - 2)
        error = sqrt(((a.n - 1) * a.sd**2 + (b.n - 1) * b.sd**2) / df * (1 / a.n + 1 / b.n))
    statistic = (a.mean - b.mean) / error
    return TTest(kind, statistic, df, float(2 * stats.t.sf(abs(statistic), df)))


def cohens_d(a: Episodes, b: Episodes) -> float:
    """Effect size `(mean_a - mean_b) / sqrt((sd_a**2 + sd_b**2) / 2)`: the root mean square of the two SDs.

    NoVariationError if neither sample has a spread.
    """
    a, b = sample(a), sample(b)
    if a.sd == 0 and b.sd == 0:
        raise NoVariationError("both samples have SD 0: Cohen's d needs a spread in at least one of them")
    return (a.mean - b.mean) / sqrt((a.sd**2 + b.sd**2) / 2)


def compare(reference: Episodes, candidate: Episodes, *, level: float = 0.05) -> Comparison:
    """The paper's procedure: F of reference over candidate; then t and d of candidate minus reference.

    Student's t where the F-test does not reject equal variances at `level`, Welch's otherwise.
    """
    if not 0 < level < 1:
        raise AnalysisError(f"level must lie between 0 and 1, got {level!r}")
    reference, candidate = sample(reference), sample(candidate)
    variances = f_test(reference, candidate)
    test = student_t_test if variances.p >= level else welch_t_test
    return Comparison(
        reference, candidate, variances, test(candidate, reference), cohens_d(candidate, reference)
    )
