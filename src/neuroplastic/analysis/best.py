"""The best trial of a study that was read, by the paper's rule."""

from __future__ import annotations

from collections.abc import Sequence

from ..experiment import figures
from .errors import TooFewError
from .study_table import TrialRow


def best_trial(trials: Sequence[TrialRow]) -> TrialRow:
    """The finished trial of greatest mean; of near ties those with slope above 0, and of these the least SD.

    As `neuroplastic study best` has it: `experiment.figures` says what is near, and that a trial which ended early
    counts only where all did. None finished raises TooFewError.
    """
    finished = [trial for trial in trials if trial.is_finished]
    if not finished:
        raise TooFewError("the study has no finished trial to choose the best of")
    return figures.best(finished, _figures)


def _figures(trial: TrialRow) -> figures.Figures:
    values = (trial.mean, trial.sd, trial.slope)
    mean, sd, slope = (value for value in values if value is not None)  # a finished trial has all three
    return figures.Figures(
        trial.number, mean, sd, slope, len(trial.returns) or trial.episodes or 0, trial.pruned
    )
