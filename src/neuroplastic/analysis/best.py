"""The paper's rule for choosing the best trial of a study."""

from __future__ import annotations

from collections.abc import Sequence

from .errors import AnalysisError, TooFewError
from .study_table import TrialRow

NEAR = 0.01
"""Means this close to the greatest, as a share of its size, count as too similar; the paper gives no number."""


def best_trial(trials: Sequence[TrialRow], *, near: float = NEAR) -> TrialRow:
    """The finished trial of greatest mean; of near ties those with slope above 0, and of these the least SD.

    Near: `mean >= greatest - near * |greatest|`. If no near tie has a slope above 0, all of them are looked at.
    What is still tied goes to the greater mean, then to the earlier trial. None finished raises TooFewError.
    """
    if near < 0:
        raise AnalysisError(f"near must be at least 0, got {near!r}")
    finished = [(trial, trial.score, trial.slope or 0.0) for trial in trials if trial.is_finished]
    if not finished:
        raise TooFewError("the study has no finished trial to choose the best of")
    greatest = max(score.mean for _, score, _ in finished)
    ties = [entry for entry in finished if entry[1].mean >= greatest - near * abs(greatest)]
    rising = [entry for entry in ties if entry[2] > 0] or ties
    return min(rising, key=lambda entry: (entry[1].sd, -entry[1].mean, entry[0].number))[0]
