"""How a study's next trial is drawn: what its sampler sees of the trials before."""

from __future__ import annotations

import warnings

import optuna
from optuna.trial import TrialState

from .settings import StudySettings
from .studies import trials_of


def as_sampled(study: optuna.Study, settings: StudySettings) -> optuna.Study:
    """The study as its sampler sees it: in the paper's space as it is, in ours with the mean as its only objective.

    Whoever never shoots has a standard deviation of 0, so by three objectives no trial is better, and a short search
    would look there.
    """
    if settings.searched == "paper":
        return study
    seen = optuna.create_study(direction="maximize", sampler=study.sampler)
    for trial in trials_of(study):
        if trial.state in (
            TrialState.COMPLETE,
            TrialState.RUNNING,
        ):  # the sampler keeps away from what others try
            seen.add_trial(
                optuna.trial.create_trial(
                    state=trial.state,
                    value=trial.values[0] if trial.values else None,
                    params=trial.params,
                    distributions=trial.distributions,
                )
            )
    return seen


def sampler(settings: StudySettings, slot: int, round_: int) -> optuna.samplers.BaseSampler:
    """The sampler of one trial: what it suggests depends on the seed, the slot and the trials before, not on workers.

    So a study that is stopped and continued by one worker gets the trials that it would have had. `round_` counts how
    often parameters of the slot were given up.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        seed = (settings.seed * 1_000_003 + slot * 101 + round_) % 2**32
        return optuna.samplers.TPESampler(seed=seed, multivariate=False, constant_liar=True)
