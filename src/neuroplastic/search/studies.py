"""A study of the paper: one task, one agent, one protocol, three objectives, the tree Parzen estimator."""

from __future__ import annotations

import dataclasses
import math
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import optuna
from optuna.trial import FrozenTrial, TrialState

from .. import catalog
from ..errors import NeuroplasticError, at_least, at_most, choose, in_short
from ..experiment.configuration import MOST_EPISODES, RunConfig, TrialProtocol
from ..experiment.options import options, with_values
from ..experiment.protocols import Task
from ..experiment.tasks import find_task, known_task, preset_of
from .objective import current_address
from .space import ANEW, SPACES, Space, at_point, in_space, own_point
from .storage import understood

DIRECTIONS: tuple[Literal["maximize", "minimize"], ...] = ("maximize", "minimize", "maximize")
"""Of a trial's values: mean, standard deviation, slope."""
TRIAL = "neuroplastic.search.trial_objective:run_trial"
"""The function that makes a trial of a task."""
_KINDS: Mapping[str, type] = {"str": str, "int": int, "bool": bool, "Mapping[str, Any]": Mapping}
MOST_SEED = 2**63
"""The largest first seed; a trial's is that and its slot."""
_PROTOCOL = ("epochs", "steps_per_epoch", "episodes", "games")


class StudyError(NeuroplasticError):
    """A study is missing, is another than the one asked for, or cannot go on."""


@dataclass(frozen=True)
class StudySettings:
    """What decides the numbers of a study: the same for every worker, kept in the study itself."""

    task: str
    agent: str
    preset: str
    epochs: int
    steps_per_epoch: int
    episodes: int
    games: int = 1
    seed: int = 0
    learner: str = "dqn"
    searched: str = "paper"
    """The name of the space, see `SPACES`."""
    prune: bool = False
    """Whether trials that lag end early, see `pruning`."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Other fields of the configuration that every trial has, by name."""
    new_episodes: int = 0
    """Episodes that no choice was made on, which each trial's best network plays in the end."""
    inherited: Mapping[str, Any] = field(default_factory=dict)
    """What trials take over from one of another study: a neuro-fuzzy agent from the plain one's best, in the paper's
    space; all that was searched, where a trial is learned anew."""
    inherited_from: str = ""
    objective: str = TRIAL
    """Where the function lies that makes a trial, as `module:function`."""

    def __post_init__(self) -> None:
        choose("space", self.searched, SPACES)
        choose("agent", self.agent, SPACES[self.searched])
        for name in _PROTOCOL:
            at_least(name, getattr(self, name), 1)
        for name, most in (("seed", MOST_SEED), ("new_episodes", MOST_EPISODES)):
            at_most(name, at_least(name, getattr(self, name), 0), most)

    @classmethod
    def asked(
        cls,
        task: str,
        agent: str,
        *,
        preset: str | None = None,
        learner: str | None = None,
        seed: int = 0,
        games: int = 1,
        searched: str = "paper",
        prune: bool = False,
        objective: str = TRIAL,
        fields: Mapping[str, Any] | None = None,
    ) -> StudySettings:
        """Settings with the preset's protocol but for what `fields` changes; a ConfigError for what does not exist."""
        found = find_task(task)
        base = _base(found, agent, preset, learner)
        given = dict(fields or {})
        changed: RunConfig = with_values(base, given)
        protocol = {name: getattr(changed.protocol, name) for name in _PROTOCOL if name != "games"}
        rest = {name: value for name, value in given.items() if name not in _PROTOCOL}
        made_by = catalog.name_of("learner", base.learner)
        return cls(
            task=_shown(found, task),
            agent=agent,
            preset=base.preset,
            learner=made_by,
            seed=seed,
            games=games,
            searched=searched,
            prune=prune,
            fields=rest,
            objective=current_address(objective),
            **protocol,
        )

    @property
    def protocol(self) -> str:
        """The protocol in one line, for every number to say how it was made."""
        made_by = "" if self.objective == TRIAL else f"; trials by {self.objective}, not the game"
        fields = "".join(f", {name} {value}" for name, value in self.fields.items())
        learner = "" if self.learner == "dqn" else f", learner {self.learner}"
        space = {"paper": "", ANEW: f", settings of {self.inherited_from}"}.get(
            self.searched, f", space {self.searched}"
        )
        early = ", trials that lag end early" if self.prune else ""
        whole = self._length == TrialProtocol() and self.searched == "paper" and not self.prune
        as_printed = self.preset == "paper" and not self.fields and whole
        kind = "the paper's protocol" if as_printed else "not the paper's protocol"
        return (
            f"{kind}: {self.epochs} epochs of {self.steps_per_epoch} steps, {self.episodes} episodes after each{fields}"
            f"{learner}{space}{early}, rest from preset {self.preset}, seed {self.seed}; mean and SD of the best epoch"
            f"{f', then {self.new_episodes} new episodes' if self.new_episodes else ''}{made_by}"
        )

    @property
    def _length(self) -> TrialProtocol:
        return TrialProtocol(self.epochs, self.steps_per_epoch, self.episodes)

    def base(self, seed: int) -> RunConfig:
        """The configuration that all trials share, with a trial's seed."""
        base = preset_of(known_task(self.task), self.preset, self.agent, self.learner)
        base = dataclasses.replace(base, preset=f"{self.preset}-search")
        values = {name: getattr(self, name) for name in _PROTOCOL} | {"seed": seed}
        changed: RunConfig = with_values(base, {**values, **self.fields})
        return changed

    def space(self) -> Space:
        """What is searched: the agent's space, less what this task and learner do not have."""
        known = {option.name for option in options(self.base(self.seed))} | {"stge"}
        space = SPACES[self.searched][self.agent]
        return {name: space[name] for name in space if name in known}

    def config(self, params: Mapping[str, Any], slot: int) -> RunConfig:
        """The run that a point of the space stands for. Every slot has a seed of its own."""
        return at_point(self.base(self.seed + slot), {**self.inherited, **params})

    def first_point(self) -> dict[str, Any] | None:
        """Where a search of ours begins: at the preset, if that lies in the space. The paper's begins anywhere."""
        return None if self.searched == "paper" else own_point(self.base(self.seed), self.space())

    def anew(self, trial: FrozenTrial, study: str, *, seed: int, new_episodes: int) -> StudySettings:
        """To learn a trial's settings anew with the seeds from `seed` on, to the end."""
        return dataclasses.replace(
            self,
            searched=ANEW,
            prune=False,
            seed=seed,
            new_episodes=new_episodes,
            inherited={**self.inherited, **trial.params},
            inherited_from=f"trial {trial.number} of study {study}",
        )

    def as_json(self) -> dict[str, Any]:
        """In a form that JSON can hold."""
        return {**dataclasses.asdict(self), "inherited": dict(self.inherited), "fields": dict(self.fields)}

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> StudySettings:
        """From what `as_json` gave, in this version or an earlier one, which knew DOOM's picture alone."""
        if not isinstance(saved, Mapping):
            raise StudyError(f"the study's settings are damaged: they are {in_short(saved, 60)!r}")
        given = dict(saved)
        if "picture" in given:
            given["fields"] = {"picture": given.pop("picture")}
        given.setdefault("objective", TRIAL)
        for entry in dataclasses.fields(cls):
            kind = _KINDS[str(entry.type)]
            if entry.name in given and not isinstance(given[entry.name], kind):
                raise StudyError(
                    f"the study's settings are damaged: {entry.name} is {in_short(given[entry.name], 60)!r}"
                )
        given["objective"] = current_address(given["objective"])
        given["fields"] = {name: _as_given(value) for name, value in given.get("fields", {}).items()}
        try:
            return cls(**given)
        except TypeError as error:
            raise StudyError(f"the study's settings are of another version: {in_short(error)}") from error


def _as_given(value: Any) -> Any:
    """JSON has lists only, a configuration tuples only."""
    return tuple(map(_as_given, value)) if isinstance(value, list) else value


def field_types(task: str, agent: str, preset: str | None, learner: str | None) -> dict[str, Any]:
    """The declared types of the fields that a study may set for all its trials, by name."""
    base = _base(find_task(task), agent, preset, learner)
    return {option.name: option.type for option in options(base)}


def _base(task: Task, agent: str, preset: str | None, learner: str | None) -> RunConfig:
    """A preset of the task; the default is the paper's, where the task has it."""
    usual = "paper" if "paper" in task.presets else None
    return preset_of(task, preset or usual, agent, learner)


def _shown(task: Task, name: str) -> str:
    """The name under which the task is found again."""
    return name if ":" in name else task.key


def create_study(storage: optuna.storages.RDBStorage, name: str, settings: StudySettings) -> StudySettings:
    """Make the study, or join one that has the same settings; its settings.

    A study that was begun otherwise is left as it is, and an error names what differs.
    """
    study = optuna.create_study(
        storage=storage, study_name=name, directions=list(DIRECTIONS), load_if_exists=True
    )
    attributes = attributes_of(study)
    if "settings" in attributes:
        there = StudySettings.from_json(attributes["settings"])
        if there.base(there.seed) == settings.base(settings.seed):  # said in other words, it is the same
            settings = dataclasses.replace(settings, fields=there.fields)
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
    study.set_user_attr("agent", in_space(settings.agent, settings.searched))
    study.set_user_attr("protocol", settings.protocol)
    study.set_user_attr("settings", settings.as_json())
    return settings


def study_names(storage: optuna.storages.RDBStorage) -> list[str]:
    """The studies of a storage."""
    with understood(storage):
        return sorted(optuna.get_all_study_names(storage))


def load_study(storage: optuna.storages.RDBStorage, name: str) -> optuna.Study:
    """A study by its name; an unknown one is an error that lists those that exist."""
    names = study_names(storage)
    if name not in names:
        there = f"there are {', '.join(names)}" if names else "there is none yet"
        raise StudyError(f"there is no study {name!r} in this storage; {there}")
    with understood(storage):
        return optuna.load_study(study_name=name, storage=storage)


def attributes_of(study: optuna.Study) -> dict[str, Any]:
    """What a study says of itself."""
    with understood(study._storage):
        return dict(study.user_attrs)


def settings_of(study: optuna.Study) -> StudySettings:
    """The settings a study was begun with."""
    attributes = attributes_of(study)
    if "settings" not in attributes:
        raise StudyError(f"study {study.study_name!r} was not made by `neuroplastic study run`")
    return StudySettings.from_json(attributes["settings"])


def begun(storage: optuna.storages.RDBStorage, name: str) -> StudySettings | None:
    """The settings of a study that may be there; None too where it is only half made and has none yet."""
    if name not in study_names(storage):
        return None
    study = load_study(storage, name)
    return settings_of(study) if "settings" in attributes_of(study) else None


def learned_anew(study: optuna.Study) -> bool:
    """Whether it is one trial of another study, learned anew with other seeds: nothing was searched.

    Told also of a study whose settings this version cannot read, and of another program's.
    """
    settings = attributes_of(study).get("settings")
    return isinstance(settings, dict) and settings.get("searched") == ANEW


def trials_of(study: optuna.Study) -> list[FrozenTrial]:
    """All trials of a study, those that are complete with three finite objectives."""
    with understood(study._storage):
        trials = study.get_trials(deepcopy=False)
    if "settings" in attributes_of(study):  # another's study may have other objectives
        for trial in trials:
            if trial.state == TrialState.COMPLETE:
                check_figures(study.study_name, trial)
    return trials


def complete(study: optuna.Study) -> list[FrozenTrial]:
    """The finished trials of a study."""
    return [trial for trial in trials_of(study) if trial.state == TrialState.COMPLETE]


# What a finished trial of ours says of itself.
_NOTED: Mapping[str, type | tuple[type, ...]] = {
    "protocol": str,
    "slot": int,
    "seed": int,
    "best_epoch": (int, float),
    "seconds": (int, float),
    "returns": list,
}


def check_figures(study: str, trial: FrozenTrial) -> None:
    """Raise a StudyError unless a finished trial of ours has all that one has."""
    values = trial.values or []
    numbers = [value for value in values if isinstance(value, float) and math.isfinite(value)]
    if len(values) != len(DIRECTIONS) or numbers != values:
        raise StudyError(
            f"study {study!r} is damaged: trial {trial.number} is complete, but its mean, SD and slope are "
            f"{in_short(values, 80)}"
        )
    unnamed = [name for name in trial.params if not isinstance(name, str)]
    if unnamed:
        raise StudyError(
            f"study {study!r} is damaged: trial {trial.number} has a parameter called {unnamed[0]!r}"
        )
    for name, kind in _NOTED.items():
        if not isinstance(trial.user_attrs.get(name), kind):
            found = in_short(repr(trial.user_attrs.get(name)), 60)
            raise StudyError(f"study {study!r} is damaged: {name} of its trial {trial.number} is {found}")
    for name, told in (
        ("epochs", _means(trial.user_attrs.get("epochs"))),
        ("new_returns", trial.user_attrs.get("new_returns", [0.0])),
    ):
        if not _are_numbers(told):
            found = in_short(repr(trial.user_attrs.get(name)), 60)
            raise StudyError(f"study {study!r} is damaged: {name} of its trial {trial.number} is {found}")


def _means(epochs: Any) -> Any:
    """The epochs' means, or what is there instead."""
    try:
        return [epoch["mean"] for epoch in epochs]
    except (KeyError, TypeError):
        return None


def _are_numbers(found: Any) -> bool:
    """Whether it is a list of finite numbers, at least one."""
    return (
        isinstance(found, list)
        and bool(found)
        and all(isinstance(value, (int, float)) and abs(value) <= sys.float_info.max for value in found)
    )


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
