"""Rules beside plain models: who is ahead, and what is said of it."""

from dataclasses import replace

import pytest

from neuroplastic.learn.judging.comparison import Comparison, Contender


def comparison(rules, *, constant=0.5, linear=0.6, tree=0.6, boosting=0.6, measure="accuracy"):
    def folds(mean):
        return (mean, mean + 0.01, mean - 0.01)

    return Comparison(
        measure,
        Contender("these rules", "rules", folds(rules)),
        (
            Contender("the most common class", "constant", folds(constant)),
            Contender("logistic regression", "linear", folds(linear)),
            Contender("tree of 8 leaves", "tree", folds(tree)),
            Contender("gradient boosting", "boosting", folds(boosting)),
        ),
        "'no'",
    )


def test_what_differs_by_chance_is_not_ahead():
    steady = Contender("a", "rules", (0.90, 0.91, 0.92))
    assert steady.ahead_of(Contender("b", "linear", (0.85, 0.86, 0.87)))
    assert not steady.ahead_of(Contender("b", "linear", (0.80, 0.95, 0.86)))
    assert not steady.ahead_of(Contender("b", "linear", (0.897, 0.907, 0.917))), (
        "three thousandths are nothing"
    )
    assert not steady.ahead_of(steady)


def test_folds_that_share_rows_make_the_error_larger_than_independent_ones_would():
    mine, its = Contender("a", "rules", (0.9, 0.9)), Contender("b", "linear", (0.84, 0.88))
    # d = .04 with a deviation of .0283: .02 were the folds independent, .0346 as they are.
    assert not mine.ahead_of(its)


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        ({"rules": 0.5}, ["No better than always saying 'no'"]),
        (
            {"rules": 0.7},
            ["Better than always saying 'no' and than logistic regression, a tree of 8 leaves and gr"],
        ),
        ({"rules": 0.6, "boosting": 0.8}, ["Gradient boosting does better: there is more in the table"]),
        (
            {"rules": 0.7, "linear": 0.7},
            ["and than a tree", "Logistic regression does about as well, and can be told in less."],
        ),
        ({"rules": 0.7, "boosting": 0.7}, ["Gradient boosting does about as well."]),
        (
            {"rules": 0.7, "linear": 0.8, "boosting": 0.8, "tree": 0.7},
            [
                "Logistic regression and gradient boosting do better",
                "A tree of 8 leaves does about as well, and",
            ],
        ),
    ],
)
def test_the_verdict_names_who_is_better_and_who_does_as_well(scores, words):
    verdict = comparison(**scores).verdict
    for part in words:
        assert part in verdict


def test_beside_few_short_rules_no_plain_model_is_said_to_be_told_in_less():
    found = replace(comparison(0.7, linear=0.7, tree=0.7), are_short=True)
    assert "Logistic regression and a tree of 8 leaves do about as well." in found.verdict


def test_where_classes_are_uneven_a_measure_that_tells_models_apart_is_heard():
    balanced = comparison(0.95, linear=0.75, tree=0.95, boosting=0.75, measure="balanced accuracy")
    uneven = replace(
        comparison(0.96, constant=0.9, linear=0.96, tree=0.96, boosting=0.98), others=(balanced,)
    )
    assert uneven.verdict == (
        "Better than always saying 'no' and than logistic regression (by balanced accuracy). Gradient boosting does "
        "better by accuracy, and worse by balanced accuracy. A tree of 8 leaves does about as well, and can be told "
        "in less."
    )


def test_the_lines_rank_all_and_mark_the_rules():
    lines = comparison(0.7, boosting=0.8).lines()
    assert lines[0] == "Worth it? accuracy on the same 3 folds:"
    assert lines[1] == "  gradient boosting      0.800 ± 0.010"
    assert lines[2] == "> these rules            0.700 ± 0.010"
    assert lines[5].startswith("  the most common class")


def test_where_classes_are_uneven_the_verdict_goes_by_what_tells_and_all_measures_are_shown():
    area = comparison(0.7, constant=0.5, linear=0.8, measure="ROC AUC")
    uneven = replace(comparison(0.92, constant=0.93, linear=0.93), others=(area,))
    assert uneven.verdict.startswith(
        "By accuracy no better than always saying 'no', for classes are uneven; by ROC AUC (0.700) better than"
    )
    assert "Logistic regression does better" in uneven.verdict
    assert uneven.lines()[0] == "Worth it? accuracy, ROC AUC on the same 3 folds:"
    assert "> these rules            0.920 ± 0.010   0.700 ± 0.010" in uneven.lines()
    lost = replace(uneven, others=(comparison(0.5, measure="ROC AUC"),))
    assert "nothing was learned" in lost.verdict
