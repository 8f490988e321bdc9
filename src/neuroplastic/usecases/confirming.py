"""A study's winner learned anew: with seeds that the study did not see, on episodes that no choice was made on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from optuna.trial import FrozenTrial

from ..errors import ConfigError, at_least, at_most
from ..experiment.configuration import MOST_EPISODES
from ..search.confirmed import Confirmation, NewScore, confirmation, new_score
from ..search.storage import open_storage
from ..search.studies import begun, complete, learned_anew, load_study, settings_of
from .studies import PreparedStudy, WorkRequest, check_device, prepared_study, trial_of, trials_asked

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
class PreparedConfirmation:
    """A trial that can be learned anew."""

    study: PreparedStudy
    """whose trials do so"""
    trial: FrozenTrial
    finished: int
    """trials that it was the best of, or one of"""

    def run(self, on_score: Callable[[NewScore, int], None] = lambda *_: None) -> Confirmation:
        """Have it learned with all seeds that were asked for."""
        name = self.study.name
        self.study.run(lambda trial, done: on_score(new_score(name, trial), done))
        found = confirmation(load_study(open_storage(self.study.request.storage, create=False), name))
        assert found is not None, "a finished study has trials"
        return found


def prepare_confirmation(request: ConfirmRequest) -> PreparedConfirmation:
    """Make the study, or join it, whose trials learn one trial of another anew."""
    check_device(request)
    at_least("seeds", request.seeds, 1)
    at_most("episodes", at_least("episodes", request.episodes, 1), MOST_EPISODES)
    stored = open_storage(request.storage, create=False)
    study = load_study(stored, request.study)
    settings = settings_of(study)
    if learned_anew(study):
        raise ConfigError(f"study {request.study!r} is itself {settings.inherited_from}, learned anew")
    trial = trial_of(study, request.trial)
    name = request.name or f"{request.study}-trial{trial.number}"
    finished = complete(study)
    there = begun(stored, name)
    if there is None:
        slots = max(
            trials_asked(stored, request.study) or 0, *(made.user_attrs["slot"] + 1 for made in finished)
        )
        first = _new_seed(request, settings.seed, settings.seed + slots)
    else:
        first = there.seed if request.first_seed is None else request.first_seed
    anew = settings.anew(trial, request.study, seed=first, new_episodes=request.episodes)
    # A study of an earlier version keeps no preset; what it was is known from its confirmation.
    if there is not None and not anew.kept:
        anew = replace(anew, kept=there.kept)
    work = prepared_study(request, open_storage(request.storage), name, anew, request.seeds)
    return PreparedConfirmation(work, trial, len(finished))


def _new_seed(request: ConfirmRequest, low: int, after: int) -> int:
    """The first of the seeds, none of which is one of the study's own: of `low` and those below `after`."""
    first = request.first_seed
    if first is None:
        return max(low + APART, after)
    if first < after and low < first + request.seeds:
        raise ConfigError(
            f"seed {max(low, first)} is one of the study's own, {low} to {after - 1}: choose --seed {after} or above"
        )
    return first
