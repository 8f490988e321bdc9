"""A study's winner learned anew: with seeds that the study did not see, on episodes that no choice was made on."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from optuna.trial import FrozenTrial

from ..errors import ConfigError, at_least, in_short
from ..search.space import ANEW
from ..search.storage import open_storage
from ..search.studies import StudyError, complete, load_study, settings_of
from .studies import PreparedStudy, WorkRequest, check_device, prepared_study, trial_of

APART = 1000
"""New seeds begin so far after the study's first, or further."""


@dataclass(frozen=True, kw_only=True)
class ConfirmRequest(WorkRequest):
    """A trial of a study that is to be learned anew."""

    study: str
    trial: int | None = None
    """None: the best"""
    seeds: int = 5
    first_seed: int | None = None
    """None: well after those of the study"""
    episodes: int = 100
    """that are played with each seed in the end"""
    name: str | None = None
    """of the study that these trials make; None: STUDY-trialN"""


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


def new_score(trial: FrozenTrial) -> NewScore:
    """What a finished trial with new episodes came to."""
    noted: Mapping[str, Any] = trial.user_attrs
    returns = noted.get("new_returns")
    if not isinstance(returns, list) or not returns or not all(isinstance(r, (int, float)) for r in returns):
        found = in_short(repr(returns), 60)
        raise StudyError(f"a study is damaged: new_returns of its trial {trial.number} is {found}")
    return NewScore(
        int(noted["seed"]),
        tuple(float(epoch["mean"]) for epoch in noted.get("epochs", ())),
        statistics.fmean(returns),
        statistics.stdev(returns) if len(returns) > 1 else 0.0,
        len(returns),
    )


@dataclass(frozen=True)
class Confirmation:
    """What a trial's settings came to with new seeds."""

    scores: tuple[NewScore, ...]

    @property
    def mean(self) -> float:
        """Over seeds."""
        return statistics.fmean(score.mean for score in self.scores)

    @property
    def sd(self) -> float:
        """Of the seeds' means; 0 for one seed."""
        return statistics.stdev(score.mean for score in self.scores) if len(self.scores) > 1 else 0.0


def confirmation(storage_address: str, name: str) -> Confirmation:
    """What the study of that name, which learned a trial anew, has found so far."""
    study = load_study(open_storage(storage_address, create=False), name)
    if settings_of(study).searched != ANEW:
        raise StudyError(
            f"study {name!r} is a search; `neuroplastic study confirm {name}` learns its best trial anew"
        )
    scores = (new_score(trial) for trial in complete(study))
    return Confirmation(tuple(sorted(scores, key=lambda score: score.seed)))


@dataclass(frozen=True)
class PreparedConfirmation:
    """A trial that can be learned anew."""

    study: PreparedStudy
    """whose trials do so"""
    trial: FrozenTrial
    finished: int
    """trials that it was the best of, or one of"""

    def run(self, on_score: Callable[[NewScore, int], None] = lambda *_: None) -> Confirmation:
        """Have it learned with all seeds that were asked for."""
        self.study.run(lambda trial, done: on_score(new_score(trial), done))
        return confirmation(self.study.request.storage, self.study.name)


def prepare_confirmation(request: ConfirmRequest) -> PreparedConfirmation:
    """Make the study, or join it, whose trials learn one trial of another anew."""
    check_device(request)
    for name in ("seeds", "episodes"):
        at_least(name, getattr(request, name), 1)
    study = load_study(open_storage(request.storage, create=False), request.study)
    settings = settings_of(study)
    if settings.searched == ANEW:
        raise ConfigError(f"study {request.study!r} is itself {settings.inherited_from}, learned anew")
    trial = trial_of(study, request.trial)
    used = [int(made.user_attrs["seed"]) for made in complete(study)]
    first = request.first_seed
    if first is None:
        first = max(settings.seed + APART, max(used) + 1)
    seen = sorted(set(used) & set(range(first, first + request.seeds)))
    if seen:
        raise ConfigError(f"seed {seen[0]} is one of the study's own; choose --seed above {max(used)}")
    anew = settings.anew(trial, request.study, seed=first, new_episodes=request.episodes)
    name = request.name or f"{request.study}-trial{trial.number}"
    work = prepared_study(request, open_storage(request.storage), name, anew, request.seeds)
    return PreparedConfirmation(work, trial, len(used))
