"""A study of the paper: one task, one agent, one protocol, three objectives, the tree Parzen estimator."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import optuna
from optuna.trial import FrozenTrial, TrialState

from ..doom.engine import PICTURES
from ..doom.presets import PRESETS, preset
from ..doom.scenarios import scenario
from ..errors import NeuroplasticError, at_least, choose
from ..experiment.configuration import Protocol, RunConfig, with_values
from .objective import current_address
from .space import SPACES, at_point

DIRECTIONS: tuple[Literal["maximize", "minimize"], ...] = ("maximize", "minimize", "maximize")
"""Of a trial's values: mean, standard deviation, slope."""
DOOM_TRIAL = "neuroplastic.search.trial_objective:doom_trial"
_PAPER = Protocol()


class StudyError(NeuroplasticError):
    """A study is missing, is another than the one asked for, or cannot go on."""


@dataclass(frozen=True)
class StudySettings:
    """What decides the numbers of a study: the same for every worker, kept in the study itself."""

    task: str
    agent: str
    # The command line shows a line of help for each of these; it has its own, not to import Optuna for it.
    preset: str = "paper"
    epochs: int = _PAPER.epochs
    steps_per_epoch: int = _PAPER.steps_per_epoch
    episodes: int = _PAPER.episodes
    picture: str = "paper"
    games: int = 1
    seed: int = 0
    inherited: Mapping[str, Any] = field(default_factory=dict)
    """What a neuro-fuzzy agent takes over from the plain agent's best trial."""
    inherited_from: str = ""
    objective: str = DOOM_TRIAL
    """Where the function lies that makes a trial, as `module:function`."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "task", scenario(self.task).key)
        choose("agent", self.agent, SPACES)
        choose("preset", self.preset, PRESETS)
        choose("picture", self.picture, PICTURES)
        for name in ("epochs", "steps_per_epoch", "episodes", "games"):
            at_least(name, getattr(self, name), 1)
        at_least("seed", self.seed, 0)

    @property
    def protocol(self) -> str:
        """The protocol in one line, for every number to say how it was made."""
        as_printed = (
            Protocol(self.epochs, self.steps_per_epoch, self.episodes) == _PAPER and self.picture == "paper"
        )
        kind = "the paper's protocol" if as_printed else "not the paper's protocol"
        by_game = current_address(self.objective) == DOOM_TRIAL
        made_by = "" if by_game else f"; trials by {self.objective}, not the game"
        return (
            f"{kind}: {self.epochs} epochs of {self.steps_per_epoch} steps, {self.episodes} episodes after each, "
            f"{self.picture} picture, rest from preset {self.preset}, seed {self.seed}; "
            f"mean and SD of the best epoch{made_by}"
        )

    def config(self, params: Mapping[str, Any], slot: int) -> RunConfig:
        """The run that a point of the space stands for. Every slot has a seed of its own."""
        base = preset(self.preset, self.task, self.agent, seed=self.seed + slot)
        base = dataclasses.replace(base, preset=f"{self.preset}-search")
        protocol = {
            "epochs": self.epochs,
            "steps_per_epoch": self.steps_per_epoch,
            "episodes": self.episodes,
            "picture": self.picture,
            "games": self.games,
        }
        return at_point(with_values(base, protocol), {**self.inherited, **params})

    def as_json(self) -> dict[str, Any]:
        """In a form that JSON can hold."""
        return {**dataclasses.asdict(self), "inherited": dict(self.inherited)}


def create_study(storage: optuna.storages.RDBStorage, name: str, settings: StudySettings) -> StudySettings:
    """Make the study, or join one that has the same settings; its settings.

    A study that was begun otherwise is left as it is, and an error names what differs.
    """
    study = optuna.create_study(
        storage=storage, study_name=name, directions=list(DIRECTIONS), load_if_exists=True
    )
    attributes = study.user_attrs
    if "settings" in attributes:
        there = StudySettings(**attributes["settings"])
        if current_address(there.objective) == current_address(settings.objective):
            settings = dataclasses.replace(settings, objective=there.objective)  # two names of one function
        differing = [
            f"{entry.name} {getattr(there, entry.name)!r} (asked for: {getattr(settings, entry.name)!r})"
            for entry in dataclasses.fields(StudySettings)
            if getattr(there, entry.name) != getattr(settings, entry.name)
        ]
        if differing:
            raise StudyError(
                f"study {name!r} was begun with {', '.join(differing)}; "
                "go on with the same options, or start another with --name"
            )
        return there
    if study.trials or [direction.name.lower() for direction in study.directions] != list(DIRECTIONS):
        raise StudyError(f"study {name!r} exists and was not made by this command; choose another --name")
    # Several processes may come here together; they write the same.
    study.set_user_attr("task", settings.task)
    study.set_user_attr("agent", settings.agent)
    study.set_user_attr("protocol", settings.protocol)
    study.set_user_attr("settings", settings.as_json())
    return settings


def load_study(storage: optuna.storages.RDBStorage, name: str) -> optuna.Study:
    """A study by its name; an unknown one is an error that lists those that exist."""
    try:
        return optuna.load_study(study_name=name, storage=storage)
    except KeyError:
        names = optuna.get_all_study_names(storage)
        there = f"there are {', '.join(sorted(names))}" if names else "there is none yet"
        raise StudyError(f"there is no study {name!r} in this storage; {there}") from None


def settings_of(study: optuna.Study) -> StudySettings:
    """The settings a study was begun with."""
    try:
        return StudySettings(**study.user_attrs["settings"])
    except KeyError:
        raise StudyError(f"study {study.study_name!r} was not made by `neuroplastic study run`") from None


def complete(study: optuna.Study) -> list[FrozenTrial]:
    """The finished trials of a study."""
    return study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))


def sampler(settings: StudySettings, slot: int, round_: int) -> optuna.samplers.BaseSampler:
    """The sampler of one trial: what it suggests depends on the seed, the slot and the trials before, not on workers.

    So a study that is stopped and continued by one worker gets the trials that it would have had. `round_` counts how
    often parameters of the slot were given up.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        seed = (settings.seed * 1_000_003 + slot * 101 + round_) % 2**32
        return optuna.samplers.TPESampler(seed=seed, multivariate=False, constant_liar=True)
