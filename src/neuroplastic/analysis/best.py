"""The paper's rule for choosing the best trial of a study."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from .errors import TooFewError
from .study_table import TrialRow


def best_trial(trials: Sequence[TrialRow]) -> TrialRow:
    """The finished trial of greatest mean; of near ties those with slope above 0, and of these the least SD.

    Near, which the paper leaves open: within one standard error of the greatest mean, `SD / sqrt(episodes)`, or only
    equal where the episodes are not known; as `neuroplastic study best` has it. If no near tie has a slope above 0,
    all of them are looked at. What is still tied goes to the greater mean, then to the earlier trial.
    None finished raises TooFewError.
    """
    finished = [trial for trial in trials if trial.is_finished]
    if not finished:
        raise TooFewError("the study has no finished trial to choose the best of")
    greatest = min(finished, key=lambda trial: (-_number(trial.mean), trial.number))
    episodes = len(greatest.returns) or greatest.episodes or 0
    near = _number(greatest.sd) / sqrt(episodes) if episodes else 0.0
    ties = [trial for trial in finished if _number(trial.mean) >= _number(greatest.mean) - near]
    rising = [trial for trial in ties if _number(trial.slope) > 0] or ties
    return min(rising, key=lambda trial: (_number(trial.sd), -_number(trial.mean), trial.number))


def _number(value: float | None) -> float:
    assert value is not None  # a finished trial has all three
    return value
