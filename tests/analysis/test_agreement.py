"""Ranks, Kendall's W and ICC: by hand, against independent formulas, and against the paper."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pingouin
import pytest
from scipy import stats

from neuroplastic import analysis
from neuroplastic.analysis import NoVariationError, TableError, TooFewError, agreement, paper
from neuroplastic.analysis.paper import Printed

TASK_ROWS = {row["task"]: row for row in paper.printed("agreement")}


def paper_ratings(task: str) -> np.ndarray:
    return np.array([list(shares.values()) for shares in paper.importances()[task].values()])


def ped_anova_of_all_tasks() -> np.ndarray:
    return np.array([list(paper.importances()[task]["PED-ANOVA"].values()) for task in paper.TASKS])


def test_the_greatest_value_has_rank_one_and_ties_share_the_mean() -> None:
    assert analysis.ranks([0.1, 0.4, 0.4, 0.0]).tolist() == [3, 1.5, 1.5, 4]


def test_kendalls_w_by_hand() -> None:
    # ranks (1,2,3), (1,3,2), (2,1,3): sums 4, 6, 8; S = 8; W = 12 * 8 / (9 * 24)
    ours = analysis.kendalls_w([[3, 2, 1], [3, 1, 2], [2, 3, 1]])
    assert ours.w == pytest.approx(96 / 216)
    assert ours.chi_square == pytest.approx(3 * 2 * 96 / 216)
    assert ours.p == pytest.approx(np.exp(-ours.chi_square / 2))  # chi-square with 2 degrees of freedom


def test_kendalls_w_of_ties_by_hand() -> None:
    # ranks (1.5,1.5,3), (1,2,3): sums 2.5, 3.5, 6; S = 6.5; T = 2**3 - 2 = 6; W = 78 / (4 * 24 - 2 * 6)
    table = [[2, 2, 1], [3, 2, 1]]
    assert analysis.kendalls_w(table).w == pytest.approx(78 / 84)
    assert analysis.kendalls_w(table, ties=False).w == pytest.approx(78 / 96)


def test_raters_of_one_mind_have_w_of_one() -> None:
    assert analysis.kendalls_w([[1, 2, 3, 3], [10, 20, 30, 30]]).w == pytest.approx(1)


@pytest.mark.parametrize("seed", range(3))
def test_kendalls_w_is_friedmans_statistic_over_its_maximum_also_with_ties(seed: int) -> None:
    table = np.random.default_rng(seed).integers(0, 6, (4, 9))
    friedman = stats.friedmanchisquare(*table.T)
    ours = analysis.kendalls_w(table)
    assert ours.chi_square == pytest.approx(friedman.statistic)
    assert ours.p == pytest.approx(friedman.pvalue)


def test_kendalls_w_is_the_mean_spearman_correlation_rescaled() -> None:
    table = np.random.default_rng(5).random((5, 8))
    pairs = [stats.spearmanr(table[i], table[j]).statistic for i in range(5) for j in range(i)]
    assert analysis.kendalls_w(table).w == pytest.approx((np.mean(pairs) * 4 + 1) / 5)


def test_icc_by_hand() -> None:
    # raters (1, 3, 5) and (3, 5, 4): subjects' means 2, 4, 4.5, grand 3.5
    # between: 2 * (2.25 + .25 + 1) / 2 = 3.5; within: (2 + 2 + .5) / 3 = 1.5; raters 3 and 4 take 1.5, rest 3 / 2
    table = [[1, 3, 5], [3, 5, 4]]
    one, three = analysis.icc_1_1(table), analysis.icc_3_k(table)
    assert (one.f, one.df, one.value) == (pytest.approx(3.5 / 1.5), (2, 3), pytest.approx(2 / 5))
    assert (three.f, three.df, three.value) == (
        pytest.approx(3.5 / 1.5),
        (2, 2),
        pytest.approx(1 - 1.5 / 3.5),
    )


@pytest.mark.parametrize("seed", range(3))
def test_icc_agrees_with_pingouin(seed: int) -> None:
    table = np.random.default_rng(seed).normal(size=(4, 7)) + np.arange(7)
    long = pd.DataFrame(
        [(s, r, table[r, s]) for r in range(4) for s in range(7)], columns=["subject", "rater", "rating"]
    )
    theirs = pingouin.intraclass_corr(long, "subject", "rater", "rating").set_index("Type")
    # pingouin calls ICC(3,k) ICC(C,k): consistency of the mean
    for ours, kind in ((analysis.icc_1_1(table), "ICC(1,1)"), (analysis.icc_3_k(table), "ICC(C,k)")):
        row = theirs.loc[kind]
        assert ours.value == pytest.approx(row["ICC"])
        assert ours.f == pytest.approx(row["F"])
        assert ours.df == (row["df1"], row["df2"])
        assert ours.p == pytest.approx(row["pval"])
        assert ours.interval == pytest.approx(row["CI95"], abs=0.0051)  # pingouin rounds to two digits


def test_icc_3_k_is_cronbachs_alpha() -> None:
    table = np.random.default_rng(9).random((3, 12)) + np.arange(12) / 6
    alpha = 3 / 2 * (1 - table.var(axis=1, ddof=1).sum() / table.sum(axis=0).var(ddof=1))
    assert analysis.icc_3_k(table).value == pytest.approx(alpha)


def test_a_constant_added_by_a_rater_moves_icc_1_1_but_not_icc_3_k() -> None:
    table = np.random.default_rng(2).random((3, 12))
    moved = table + np.array([[0.0], [1.0], [2.0]])
    assert analysis.icc_3_k(moved).value == pytest.approx(analysis.icc_3_k(table).value)
    assert analysis.icc_1_1(moved).value < analysis.icc_1_1(table).value


def test_perfect_agreement_has_icc_of_one() -> None:
    table = [[0.1, 0.5, 0.7]] * 3
    for ours in (analysis.icc_1_1(table), analysis.icc_3_k(table)):
        assert (ours.value, ours.p, ours.interval) == (1.0, 0.0, (1.0, 1.0))


@pytest.mark.parametrize("task", [task for task in TASK_ROWS if task != "all"])
def test_the_column_called_icc_3_k_is_icc_1_1_of_the_printed_f(task: str) -> None:
    row = TASK_ROWS[task]
    ours = agreement.icc_1_1_of_f(float(row["f"]), raters=3, subjects=12)
    assert ours.df == (11, 24)
    assert Printed(row["icc"]).equals(ours.value)
    assert Printed(row["f_p"]).equals(ours.p)
    assert Printed(row["low"]).equals(ours.interval[0])
    assert Printed(row["high"]).equals(ours.interval[1])


@pytest.mark.parametrize("task", TASK_ROWS)
def test_every_printed_p_of_kendalls_w_follows_from_w(task: str) -> None:
    row = TASK_ROWS[task]
    raters = 7 if task == "all" else 3
    assert Printed(row["w_p"]).equals(agreement.concordance(float(row["w"]), raters=raters, subjects=12).p)


def test_icc_3_k_over_all_tasks_from_the_printed_table_is_757() -> None:
    ours = analysis.icc_3_k(ped_anova_of_all_tasks())
    assert round(ours.value, 3) == 0.757
    assert ours.df == (11, 66)
    row = TASK_ROWS["all"]
    from_f = agreement.icc_3_k_of_f(float(row["f"]), raters=7, subjects=12)
    assert Printed(row["icc"]).equals(from_f.value)
    assert Printed(row["f_p"]).equals(from_f.p)
    assert Printed(row["low"]).equals(from_f.interval[0])
    assert Printed(row["high"]).equals(from_f.interval[1])


def test_the_true_icc_3_k_of_handling_rockets_is_930() -> None:
    ours = analysis.icc_3_k(paper_ratings("BR"))
    assert (round(ours.f, 2), ours.df, round(ours.value, 3)) == (14.34, (11, 22), 0.930)
    assert round(analysis.icc_1_1(paper_ratings("BR")).value, 2) == 0.83


def test_rounding_makes_ties_that_change_kendalls_w_of_pistol_practice() -> None:
    assert round(analysis.kendalls_w(paper_ratings("BP")).w, 3) == 0.535
    assert round(analysis.kendalls_w(paper_ratings("BP"), ties=False).w, 3) == 0.508


@pytest.mark.parametrize("statistic", [analysis.kendalls_w, analysis.icc_1_1, analysis.icc_3_k])
def test_bad_tables_of_ratings_raise(statistic) -> None:
    with pytest.raises(TooFewError, match="at least 2 raters"):
        statistic([[1, 2, 3]])
    with pytest.raises(TooFewError):
        statistic([[], []])
    with pytest.raises(TableError, match="finite"):
        statistic([[1, 2], [float("nan"), 1]])
    with pytest.raises(TableError):
        statistic([[1, 2], [1]])
    with pytest.raises(NoVariationError):
        statistic([[2, 2, 2], [2, 2, 2]])
