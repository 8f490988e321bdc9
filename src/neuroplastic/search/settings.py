"""What a study is of: the settings that decide its numbers, the same for every worker, kept in the study itself."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from optuna.trial import FrozenTrial

from .. import catalog
from ..errors import ConfigError, NeuroplasticError, at_least, at_most, choose, in_short
from ..experiment.configuration import MOST_EPISODES, RunConfig, TrialProtocol, as_json, from_json
from ..experiment.options import options, with_values
from ..experiment.protocols import Task
from ..experiment.tasks import find_task, known_task, preset_of
from .objective import current_address
from .space import ANEW, SPACES, Space, at_point, own_point

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
    kept: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """What all trials share, as it was when the study was begun: presets may change. Empty in those of earlier
    versions, whose preset is taken as it is now."""

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
        base = self._shared()
        base = dataclasses.replace(base, preset=f"{self.preset}-search")
        values = {name: getattr(self, name) for name in _PROTOCOL} | {"seed": seed}
        changed: RunConfig = with_values(base, {**values, **self.fields})
        return changed

    def _shared(self) -> RunConfig:
        """What the study kept; of an earlier version's the preset as it is now."""
        task = known_task(self.task)  # asked in any case: a storage may name any module
        if not self.kept:
            return preset_of(task, self.preset, self.agent, self.learner)
        try:
            kept = from_json(self.kept)
        except ConfigError as error:
            raise StudyError(f"the study's settings are damaged: kept: {in_short(error)}") from error
        of = (kept.task.key, kept.agent, catalog.name_of("learner", kept.learner))
        if of != (task.key, self.agent, self.learner):
            raise StudyError(
                f"the study's settings are damaged: kept is of {', '.join(of)}, not of "
                f"{', '.join((task.key, self.agent, self.learner))}"
            )
        return kept

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

    def keeping(self) -> StudySettings:
        """These settings, whatever becomes of the preset."""
        return self if self.kept else dataclasses.replace(self, kept=as_json(self.base(self.seed)))

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
