"""The best trial: greatest mean, then a rising trend, then the least SD; as the study command chooses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import optuna
import pytest

from neuroplastic.analysis import TooFewError, TrialRow
from neuroplastic.analysis.best import best_trial


def trial(number: int, mean: float, sd: float, slope: float, episodes: int = 25) -> TrialRow:
    return TrialRow(number, "COMPLETE", {}, mean, sd, slope, returns=(mean,) * episodes)


def test_the_greatest_mean_wins_where_no_other_is_near() -> None:
    assert best_trial([trial(0, 10, 1, 5), trial(1, 20, 9, -5)]).number == 1


def test_of_near_ties_a_rising_one_with_the_least_sd_wins() -> None:
    # a standard error of 5 / 5 = 1 makes 99.2 a near tie of 100
    trials = [trial(0, 100, 5, -1), trial(1, 99.2, 4, 1), trial(2, 99.5, 2, 1), trial(3, 99.9, 1, -1)]
    assert best_trial(trials).number == 2
    assert best_trial([replace(t, slope=-1.0) for t in trials]).number == 3


def test_without_episodes_only_equal_means_are_ties() -> None:
    trials = [
        replace(trial(n, mean, sd, 1), returns=())
        for n, (mean, sd) in enumerate([(10, 5), (9.99, 1), (10, 4)])
    ]
    assert best_trial(trials).number == 2


def test_a_study_without_a_finished_trial_has_no_best() -> None:
    with pytest.raises(TooFewError):
        best_trial([TrialRow(0, "RUNNING", {})])


@pytest.mark.parametrize("seed", range(20))
def test_it_is_the_trial_that_the_study_command_chooses(seed: int) -> None:
    best = pytest.importorskip("neuroplastic.search.best")
    generator = np.random.default_rng(seed)
    rows = [
        replace(
            trial(
                n, float(generator.normal(50, 1)), float(generator.integers(1, 8)), float(generator.normal())
            ),
            pruned=bool(generator.integers(2)),
        )
        for n in range(12)
    ]
    frozen = [
        optuna.create_trial(
            values=[t.mean, t.sd, t.slope], user_attrs={"returns": list(t.returns), "pruned": t.pruned}
        )
        for t in rows
    ]
    for number, made in enumerate(frozen):
        made.number = number
    assert best_trial(rows).number == best.best_of(frozen).number
