"""F-test, t-tests and Cohen's d: against SciPy, by law, and against every number the paper prints."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from neuroplastic import analysis
from neuroplastic.analysis import NoVariationError, Sample, TableError, TooFewError, paper
from neuroplastic.analysis.paper import Printed

# Slips of the paper: what its text prints, and what its own tables give.
SLIPS = {("GH", "t"): "-1.5882", ("GH", "d"): "-.4492"}


def paper_comparison(task: str) -> analysis.Comparison:
    return analysis.compare(paper.best_trials("dnn")[task].score, paper.best_trials("nfn")[task].score)


@pytest.mark.parametrize("task", paper.TASKS)
def test_every_printed_statistic_of_a_task_follows_from_the_tables(task: str) -> None:
    row = next(row for row in paper.printed("comparisons") if row["task"] == task)
    ours = paper_comparison(task)
    values = {
        "f": ours.variances.statistic,
        "f_p": ours.variances.p,
        "t": ours.means.statistic,
        "p": ours.means.p,
        "d": ours.d,
    }
    for name, value in values.items():
        text = SLIPS.get((task, name), row[name])
        assert Printed(text).equals(value), f"{task} {name}: printed {text}, computed {value}"


def test_the_text_drops_the_sign_of_t_and_d_in_gathering_health() -> None:
    row = next(row for row in paper.printed("comparisons") if row["task"] == "GH")
    ours = paper_comparison("GH")
    assert not Printed(row["t"]).equals(ours.means.statistic)
    assert Printed(row["t"]).equals(-ours.means.statistic)
    assert Printed(row["d"]).equals(-ours.d)


def test_the_48_degrees_of_freedom_printed_for_welch_are_not_its_own() -> None:
    kinds = {task: paper_comparison(task).means for task in paper.TASKS}
    assert {task for task, test in kinds.items() if test.kind == "Welch"} == {"BR", "DTC", "TC", "GH"}
    for task in ("BR", "DTC", "TC", "GH"):
        one, two = (paper.best_trials(agent)[task].score.sd ** 2 for agent in ("dnn", "nfn"))
        # Welch-Satterthwaite with 25 episodes each
        assert kinds[task].df == pytest.approx(24 * (one + two) ** 2 / (one**2 + two**2))
        assert kinds[task].df < 41
    assert all(test.df == 48 for test in kinds.values() if test.kind == "Student")


def test_raw_episodes_and_their_summary_give_the_same_numbers_as_scipy() -> None:
    generator = np.random.default_rng(1)
    a, b = generator.normal(3, 2, 25), generator.normal(2, 5, 19)
    for test, equal in ((analysis.student_t_test, True), (analysis.welch_t_test, False)):
        theirs = stats.ttest_ind(a, b, equal_var=equal)
        for pair in ((a, b), (Sample.of(a), Sample.of(b)), (a, Sample.of(b))):
            ours = test(*pair)
            assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-12)
            assert ours.p == pytest.approx(theirs.pvalue, rel=1e-10)
            assert ours.df == pytest.approx(theirs.df, rel=1e-12)


def test_f_test_is_the_same_seen_from_either_sample() -> None:
    a, b = Sample(0, 2, 10), Sample(0, 3, 30)
    there, back = analysis.f_test(a, b), analysis.f_test(b, a)
    assert there.statistic == pytest.approx(1 / back.statistic)
    assert there.p == pytest.approx(back.p)
    # by hand: F = 4/9 with (9, 29) degrees of freedom, lower tail doubled
    assert there.p == pytest.approx(2 * stats.f.cdf(4 / 9, 9, 29))


def test_equal_variances_have_p_of_one() -> None:
    assert analysis.f_test(Sample(0, 2, 25), Sample(5, 2, 25)).p == pytest.approx(1)


def test_cohens_d_by_hand() -> None:
    # SDs 3 and 4: root mean square sqrt(12.5); means 10 apart
    assert analysis.cohens_d(Sample(15, 3, 25), Sample(5, 4, 25)) == pytest.approx(10 / 12.5**0.5)


def test_one_sample_without_spread_is_rejected_as_unequal_and_compared_by_welch() -> None:
    ours = analysis.compare([2100.0] * 25, Sample(1992, 340, 25))
    assert ours.variances.statistic == 0
    assert ours.variances.p == 0
    assert ours.means.kind == "Welch"
    assert analysis.f_test(Sample(1, 1, 5), [2.0] * 5).statistic == float("inf")


@pytest.mark.parametrize(
    "test", [analysis.f_test, analysis.student_t_test, analysis.welch_t_test, analysis.cohens_d]
)
def test_two_samples_without_spread_raise(test) -> None:
    with pytest.raises(NoVariationError, match="SD 0"):
        test([1.0, 1.0], [2.0, 2.0])


@pytest.mark.parametrize("episodes", [[], [1.0]])
def test_fewer_than_two_episodes_raise(episodes: list[float]) -> None:
    with pytest.raises(TooFewError, match="at least 2 episodes"):
        analysis.compare(episodes, [1.0, 2.0])


@pytest.mark.parametrize(("mean", "sd"), [(float("nan"), 1.0), (0.0, -1.0), (0.0, float("inf"))])
def test_a_sample_that_cannot_be_raises(mean: float, sd: float) -> None:
    with pytest.raises(TableError, match="finite"):
        Sample(mean, sd, 25)


def test_nan_among_episodes_raises() -> None:
    with pytest.raises(TableError):
        Sample.of([1.0, float("nan"), 2.0])


def test_pooled_mean_and_sd_by_hand() -> None:
    # n 3 and 5; means 1 and 5: (3 + 25) / 8; variances 4 and 1: (2 * 4 + 4 * 1) / 6
    ours = analysis.pooled([Sample(1, 2, 3), Sample(5, 1, 5)])
    assert (ours.mean, ours.sd, ours.n) == (pytest.approx(3.5), pytest.approx(2**0.5), 8)


def test_pooling_one_sample_changes_nothing_and_none_raises() -> None:
    only = Sample(2.0, 3.0, 25)
    assert analysis.pooled([only]) == only
    with pytest.raises(TooFewError):
        analysis.pooled([])
