"""The best trial of an Optuna study, by the paper's rule."""

from __future__ import annotations

from collections.abc import Sequence

import optuna
from optuna.trial import FrozenTrial

from ..experiment import figures
from ..experiment.figures import Figures
from .settings import DIRECTIONS, StudyError
from .studies import complete


def figures_of(trial: FrozenTrial) -> Figures:
    """The figures of a finished trial."""
    mean, sd, slope = trial.values
    noted = trial.user_attrs
    return Figures(trial.number, mean, sd, slope, len(noted.get("returns", ())), bool(noted.get("pruned")))


def near_ties(trials: Sequence[FrozenTrial]) -> list[FrozenTrial]:
    """The trials whose mean is the greatest or too similar to it, the greatest first."""
    return figures.near_ties(trials, figures_of)


def best_of(trials: Sequence[FrozenTrial]) -> FrozenTrial:
    """The best of finished trials, as `figures.best` has it."""
    if not trials:
        raise StudyError("there is no finished trial to choose from")
    return figures.best(trials, figures_of)


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
