"""Searching for hyperparameters: a study run, its state, its best trial, its files."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import optuna
from optuna.trial import FrozenTrial, TrialState

from ..analysis.enough import expected_best
from ..errors import ConfigError
from ..experiment.options import options
from ..experiment.tasks import find_task, known_task, modules_of
from ..search.best import best_of, best_trial, near_ties
from ..search.confirmed import Confirmation, confirmation
from ..search.device_room import check_room_for_workers
from ..search.export import export_preset, export_table, write_new
from ..search.pruning import FIRST
from ..search.settings import TRIAL, StudyError, StudySettings, field_types
from ..search.slots import Slots
from ..search.space import SPACES, field_of, in_space, inherited_from
from ..search.storage import open_storage, storage_url, understood
from ..search.studies import (
    attributes_of,
    begun,
    complete,
    create_study,
    learned_anew,
    load_study,
    settings_of,
    study_names,
    trials_of,
)
from ..search.worker import Job
from .devices import usable_device
from .training import parsed_fields

PRESETS = {"short": "short"}
"""By space the preset that it is about."""
OnTrial = Callable[[FrozenTrial, int], None]


@dataclass(frozen=True, kw_only=True)
class WorkRequest:
    """Where a study lies, and who makes its trials."""

    storage: str = "sqlite:///studies.db"
    workers: int = 1
    runs: str = "runs/studies"
    device: str = "cpu"
    threads: int = 1
    retries: int = 3
    engine: str = "processes"
    ray_address: str | None = None


@dataclass(frozen=True, kw_only=True)
class StudyRequest(WorkRequest):
    """A study that is to be made, or to go on."""

    task: str
    agent: str
    trials: int = 720
    name: str | None = None
    preset: str | None = None
    learner: str | None = None
    games: int = 1
    seed: int = 0
    fields: Mapping[str, str] = field(default_factory=dict)
    """fields of the configuration that every trial has, by name, as text"""
    space: str = "paper"
    prune: bool = False
    inherit: str | None = None
    objective: str = TRIAL


@dataclass(frozen=True)
class PreparedStudy:
    """A study that is there and can be worked on."""

    name: str
    settings: StudySettings
    job: Job
    request: WorkRequest

    def run(self, on_trial: OnTrial = lambda *_: None) -> None:
        """Have the trials made; returns when as many as asked for are complete."""
        if self.request.engine == "ray":
            from ..search.ray_engine import run_on_ray

            run_on_ray(self.job, self.request.workers, on_trial, address=self.request.ray_address)
        else:
            from ..search.workers import run_workers

            run_workers(self.job, self.request.workers, on_trial)


def prepare_study(request: StudyRequest, *, also_known: Sequence[str] = ()) -> PreparedStudy:
    """Check everything, then make the study or join it; a mistake is found before a study is touched.

    `also_known` are words that a mistyped field may have meant.
    """
    if request.agent == "dnn" and request.inherit:
        raise ConfigError("--inherit is for --agent nfn: the plain agent searches all of its own values")
    if request.space != "paper" and request.inherit:
        raise ConfigError(f"--inherit is for the paper's space: {request.space!r} leaves nothing to inherit")
    if request.space == "paper" and request.prune:
        raise ConfigError(
            "--prune is for our spaces: the paper's is searched by SD and slope too, which a trial that ended early "
            "has of fewer epochs"
        )
    check_device(request)
    request = replace(request, preset=request.preset or _preset_of_space(request))
    settings = _settings(request, also_known)
    if request.prune and settings.epochs < 2 * FIRST:
        raise ConfigError(
            f"--prune looks at trials after epoch {FIRST} up to half of them: give --epochs {2 * FIRST} or more, got "
            f"{settings.epochs}"
        )
    storage = open_storage(request.storage)
    task = find_task(request.task)
    name = request.name or study_name(task.key, request.agent, request.space)
    if request.agent == "nfn" and request.space == "paper":
        settings = _with_inherited(settings, request, storage, name)
    if begun(storage, name) is None:  # one of an earlier version may have such fields, and goes on
        _check_fields(settings)
    return prepared_study(request, storage, name, settings, request.trials)


def check_device(request: WorkRequest) -> None:
    """Raise a ConfigError for a device that this machine does not have, where its own processes are to work."""
    if request.engine == "processes":
        usable_device(request.device)


def prepared_study(
    request: WorkRequest, storage: optuna.storages.RDBStorage, name: str, settings: StudySettings, trials: int
) -> PreparedStudy:
    """With the study in its storage, once there is room for its workers."""
    if request.engine == "processes":
        check_room_for_workers(settings, min(request.workers, trials), usable_device(request.device))
    settings = create_study(storage, name, settings)
    job = Job(
        storage=storage_url(request.storage),
        study=name,
        trials=trials,
        runs=os.path.abspath(request.runs),
        device=request.device,
        threads=request.threads,
        retries=request.retries,
        modules=modules_of(known_task(settings.task)),  # it may be named by a storage alone
    )
    return PreparedStudy(name, settings, job, request)


def study_name(task: str, agent: str, space: str = "paper") -> str:
    """What a study is called where nothing else is asked for."""
    return f"{task}-{in_space(agent, space)}"


def _preset_of_space(request: StudyRequest) -> str | None:
    """The preset that the space is about, if it is about one; a ConfigError where the task does not have it.

    Of ours it has to be named: what is searched is a range about its values.
    """
    preset, task = PRESETS.get(request.space), find_task(request.task)
    if request.space == "ours":
        fitting = [name for name in task.presets if name in ("short", "taught")] or task.presets
        raise ConfigError(f"--space ours needs --preset, which it is searched about: {' or '.join(fitting)}")
    if preset is not None and preset not in task.presets:
        raise ConfigError(
            f"the space {request.space!r} is about the preset {preset!r}, which {task.key} does not have; choose "
            f"another --space, or a --preset that it has: {', '.join(task.presets)}"
        )
    return preset


def _settings(request: StudyRequest, also_known: Sequence[str]) -> StudySettings:
    types = field_types(request.task, request.agent, request.preset, request.learner)
    fields = parsed_fields(request.fields, types, also_known=also_known)
    return StudySettings.asked(
        request.task,
        request.agent,
        preset=request.preset,
        learner=request.learner,
        seed=request.seed,
        games=request.games,
        searched=request.space,
        prune=request.prune,
        objective=request.objective,
        fields=fields,
    )


def _check_fields(settings: StudySettings) -> None:
    """Raise a ConfigError for a field that all trials are to have, and of which each gets another value."""
    for names, how in ((settings.space(), "searched"), (settings.inherited, "inherited")):
        for taken in map(field_of, names):
            if taken in settings.fields:
                raise ConfigError(
                    f"{taken} is {how} in the space {settings.searched!r}, so that a value for all trials would have "
                    "no effect; leave it out"
                )


def _with_inherited(
    settings: StudySettings, request: StudyRequest, storage: optuna.storages.RDBStorage, name: str
) -> StudySettings:
    """With what the neuro-fuzzy agent takes over; a study that was begun goes on with what it took over then."""
    there = None if request.inherit else begun(storage, name)
    if there is not None:
        return replace(settings, inherited=there.inherited, inherited_from=there.inherited_from)
    inherited, source = _inherited(settings, request, storage)
    return replace(settings, inherited=inherited, inherited_from=source)


def _inherited(
    settings: StudySettings, request: StudyRequest, storage: optuna.storages.RDBStorage
) -> tuple[dict[str, Any], str]:
    space = replace(settings, agent="dnn", fields={}).space()  # fields may be of rules alone
    key = find_task(request.task).key
    if request.inherit == "paper":
        values = _values_of_paper(request.task)
        return inherited_from(
            values, {name: SPACES["paper"]["dnn"][name] for name in space}
        ), "the paper's best DNN"
    source = request.inherit or study_name(key, "dnn")
    try:
        study = load_study(storage, source)
        trial = best_trial(study)
    except StudyError as error:
        wanted = ", ".join(
            name for name in ("frame_skip", "batch_size", "memory_size", "discount") if name in space
        )
        raise StudyError(
            f"the neuro-fuzzy agent takes {wanted} from the plain agent's best trial, "
            f"but {error}. Run `neuroplastic study run --task {key} --agent dnn` first, name its study with "
            "--inherit STUDY, or take the paper's with --inherit paper"
        ) from None
    theirs = settings_of(study)
    if theirs.task != settings.task:
        raise ConfigError(f"study {source!r} is of task {theirs.task}, not of {settings.task}")
    return inherited_from(trial.params, space), f"trial {trial.number} of study {source} ({theirs.protocol})"


def _values_of_paper(task: str) -> dict[str, Any]:
    found = find_task(task)
    if "paper" not in found.presets:
        raise ConfigError(f"the paper has no trial of {found.key}; name a study with --inherit STUDY")
    return {option.name: option.value for option in options(found.preset("paper", "dnn"))}


@dataclass(frozen=True)
class StudyState:
    """How far a study is."""

    name: str
    complete: int
    asked: int | None
    """trials that were asked for; None where that is unknown"""
    running: int
    failed: int
    best: FrozenTrial | None
    """None where nothing was searched"""
    confirmed: Confirmation | None
    """where a trial was learned anew"""
    protocol: str | None


def study_states(storage_address: str, name: str | None = None) -> list[StudyState]:
    """The studies of a storage, or one of them."""
    storage = open_storage(storage_address, create=False)
    names = [name] if name else study_names(storage)
    return [_state(storage, each) for each in names]


def _state(storage: optuna.storages.RDBStorage, name: str) -> StudyState:
    study = load_study(storage, name)
    trials = trials_of(study)
    number = {state: sum(trial.state == state for trial in trials) for state in TrialState}
    finished = [trial for trial in trials if trial.state == TrialState.COMPLETE]
    attributes = attributes_of(study)
    ours = "settings" in attributes  # another's study may have other objectives
    anew = learned_anew(study)
    return StudyState(
        name,
        number[TrialState.COMPLETE],
        trials_asked(storage, name),
        number[TrialState.RUNNING],
        number[TrialState.FAIL],
        best_of(finished) if finished and ours and not anew else None,
        confirmation(study) if anew else None,
        attributes.get("protocol"),
    )


def trials_asked(storage: optuna.storages.RDBStorage, name: str) -> int | None:
    """How many trials a study was asked for; None where that is unknown."""
    slots = Slots(storage.engine, name)
    with understood(storage):
        return sum(slots.count().values()) if slots.exist() else None


@dataclass(frozen=True)
class BestTrial:
    """The best trial of a study, by the paper's rule, and those that were nearly as good."""

    study: str
    trial: FrozenTrial
    finished: int
    tied: tuple[FrozenTrial, ...]
    parameters: Mapping[str, Any]
    """of the trial, inherited ones first"""
    of_half: float | None
    """the greatest mean of half as many of the trials, on average; None for a single one"""


def best_of_study(storage_address: str, name: str) -> BestTrial:
    """The best trial of a study that this package made."""
    study = load_study(open_storage(storage_address, create=False), name)
    settings = _search_of(study)  # first of all: the best of another's study means nothing
    trial, finished = best_trial(study), complete(study)
    parameters = {**settings.inherited, **trial.params}
    means = [one.values[0] for one in finished]
    of_half = expected_best(means, len(means) // 2) if len(means) > 1 else None
    return BestTrial(study.study_name, trial, len(finished), tuple(near_ties(finished)), parameters, of_half)


def export_study(
    storage_address: str,
    name: str,
    *,
    preset: str | None = None,
    table: str | None = None,
    number: int | None = None,
) -> list[str]:
    """Write a trial (default: the best) as a preset, all finished trials as CSV, or both; the files written."""
    if not preset and not table:
        raise ConfigError("say what to write: --preset FILE.json, --csv FILE.csv, or both")
    study = load_study(open_storage(storage_address, create=False), name)
    _search_of(study)
    trial = trial_of(study, number)
    contents = {}
    if preset:
        if not preset.endswith(".json"):
            raise ConfigError(f"--preset must name a .json file, got {preset!r}")
        contents[preset] = export_preset(study, trial)
    if table:
        contents[table] = export_table(study)
    write_new(contents)
    return list(contents)


def _search_of(study: optuna.Study) -> StudySettings:
    """The settings of a study in which something was searched; refuses others."""
    settings = settings_of(study)
    if learned_anew(study):
        raise StudyError(
            f"study {study.study_name!r} searched nothing: it is {settings.inherited_from}, learned anew; "
            f"`neuroplastic study status {study.study_name}` shows what it came to"
        )
    return settings


def trial_of(study: optuna.Study, number: int | None) -> FrozenTrial:
    """A finished trial by its number; without one, the best."""
    if number is None:
        return best_trial(study)
    for trial in complete(study):
        if trial.number == number:
            return trial
    raise StudyError(f"study {study.study_name!r} has no finished trial {number}")
