"""The paper's rule for choosing the best trial of a study."""

from __future__ import annotations

import math
from collections.abc import Sequence

import optuna
from optuna.trial import FrozenTrial

from .search import DIRECTIONS, StudyError, complete


def near_tie(best: FrozenTrial) -> float:
    """How far below the greatest mean a mean still counts as "too similar", which the paper leaves open.

    One standard error of the greatest mean, SD / sqrt(episodes): a difference that a repetition of its own
    evaluation might show. With an SD of 0, or where the episodes are unknown, only an equal mean is a tie.
    """
    episodes = len(best.user_attrs.get("returns", ()))
    return best.values[1] / math.sqrt(episodes) if episodes else 0.0


def near_ties(trials: Sequence[FrozenTrial]) -> list[FrozenTrial]:
    """The trials whose mean is the greatest or too similar to it, the greatest first."""
    ordered = sorted(trials, key=lambda trial: (-trial.values[0], trial.number))
    return [t for t in ordered if t.values[0] >= ordered[0].values[0] - near_tie(ordered[0])]


def best_of(trials: Sequence[FrozenTrial]) -> FrozenTrial:
    """The trial of the greatest mean. Among near ties those with slope above 0 come first, then the least SD.

    If no near tie rises, all are considered; what is still equal goes to the greater mean, then the earlier trial.
    """
    if not trials:
        raise StudyError("there is no finished trial to choose from")
    tied = near_ties(trials)
    rising = [trial for trial in tied if trial.values[2] > 0] or tied
    return min(rising, key=lambda trial: (trial.values[1], -trial.values[0], trial.number))


def best_trial(study: optuna.Study) -> FrozenTrial:
    """The best of a study's finished trials."""
    if len(study.directions) != len(DIRECTIONS):
        raise StudyError(
            f"study {study.study_name!r} must have the three objectives mean, SD and slope, got "
            f"{len(study.directions)}; name one that `neuroplastic study run` made"
        )
    trials = complete(study)
    if not trials:
        raise StudyError(
            f"study {study.study_name!r} has no finished trial yet; `neuroplastic study status` shows its progress"
        )
    return best_of(trials)
