"""A loss that runs away is said, in a warning and in the run's folder."""

import math
import warnings
from dataclasses import replace

import pytest

from neuroplastic.experiment.configuration import TrialProtocol
from neuroplastic.experiment.divergence import DivergenceWarning, divergence, warn_of_divergence
from neuroplastic.experiment.run_folder import EpochMetrics, RunFolder
from neuroplastic.experiment.trial import evaluation_seed


def epochs(*losses: float) -> list[EpochMetrics]:
    one = EpochMetrics(1, 100, 0.0, 0.0, 0.0, 0.0, 3, 0.0, 0, 0, None)
    return [replace(one, epoch=number, loss=loss) for number, loss in enumerate(losses, start=1)]


@pytest.mark.parametrize(
    "losses",
    [
        (0.066, 0.075, 0.052, 0.052, 0.047),
        (0.0175, 0.0141, 0.019, 0.0005, 8e-6, 0.02),
        (math.nan, 0.1, 0.2),
        (0.0, 0.0, 0.3),
        (1.0, 4.0, 9.0, 25.0),
    ],
)
def test_a_loss_that_falls_or_follows_returns_is_no_divergence(losses):
    assert divergence(epochs(*losses)) == []


def test_a_loss_far_above_the_epochs_before_is_told_with_its_epoch():
    (line,) = divergence(epochs(0.1, 0.2, 0.3, 90.0))
    assert line == "epoch 4: the loss diverges: 90, 450 times the median of the epochs before (0.2)"


def test_a_loss_that_grows_steadily_is_found_in_the_end():
    assert divergence(epochs(*(4.0**k for k in range(8))))


def test_a_loss_that_is_no_number_is_told_and_warned_of_once_it_is_the_latest(tmp_path):
    folder = RunFolder(tmp_path)
    with pytest.warns(DivergenceWarning, match=r"epoch 2: the loss is no number any more \(inf\); a smaller"):
        warn_of_divergence(folder, epochs(0.1, math.inf))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_divergence(folder, epochs(0.1, math.inf, 0.2))
    assert (tmp_path / "notices.txt").read_text() == "epoch 2: the loss is no number any more (inf)\n"


def test_a_loss_that_never_was_a_number_is_told_where_there_were_updates():
    (first,) = epochs(math.nan)
    assert divergence([first]) == []
    (line,) = divergence([replace(first, figures={"updates": 53.0})])
    assert line == "epoch 1: the loss is no number any more (nan)"


def test_fixed_episodes_are_the_same_in_all_runs_and_those_drawn_anew_in_none():
    fixed, anew = TrialProtocol(), TrialProtocol(episode_seeds="anew")
    pairs = [(run, epoch) for run in range(20) for epoch in range(1, 11)]
    assert {evaluation_seed(fixed, run=run, epoch=epoch) for run, epoch in pairs} == {0}
    drawn = [evaluation_seed(anew, run=run, epoch=epoch) for run, epoch in pairs]
    assert len(set(drawn) | {0}) == len(pairs) + 1
