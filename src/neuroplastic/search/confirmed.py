"""What a study's trial came to when it was learned anew."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import optuna
from optuna.trial import FrozenTrial

from .figures import check_figures
from .objective import means_of
from .settings import StudyError
from .studies import complete


@dataclass(frozen=True)
class NewScore:
    """What one new seed came to."""

    seed: int
    epochs: tuple[float, ...]
    """their means, on the episodes that training judges by"""
    mean: float
    sd: float
    """both of the new episodes"""
    episodes: int


def new_score(study: str, trial: FrozenTrial) -> NewScore:
    """What a finished trial of a study came to on the new episodes."""
    check_figures(study, trial)
    noted = trial.user_attrs
    if "new_returns" not in noted:
        raise StudyError(f"study {study!r} is damaged: its trial {trial.number} has no new_returns")
    returns = noted["new_returns"]
    spread = statistics.stdev(returns) if len(returns) > 1 else 0.0
    return NewScore(
        noted["seed"], tuple(means_of(noted["epochs"])), statistics.fmean(returns), spread, len(returns)
    )


@dataclass(frozen=True)
class Confirmation:
    """What a trial's settings came to with new seeds, at least one."""

    scores: Sequence[NewScore]

    @property
    def mean(self) -> float:
        """Over seeds."""
        return statistics.fmean(score.mean for score in self.scores)

    @property
    def sd(self) -> float:
        """Of the seeds' means; 0 for one seed."""
        return statistics.stdev(score.mean for score in self.scores) if len(self.scores) > 1 else 0.0


def confirmation(study: optuna.Study) -> Confirmation | None:
    """What a study that learned a trial anew has found so far; None before its first trial is finished."""
    scores = [new_score(study.study_name, trial) for trial in complete(study)]
    return Confirmation(sorted(scores, key=lambda score: score.seed)) if scores else None
