"""Studies in a storage: one task, one agent, one protocol, three objectives, the tree Parzen estimator."""

from __future__ import annotations

import dataclasses
from typing import Any

import optuna
from optuna.trial import FrozenTrial, TrialState

from ..experiment.options import options
from .figures import check_figures
from .settings import DIRECTIONS, StudyError, StudySettings
from .space import ANEW, in_space
from .storage import understood


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
        if differing := _differing(there, settings):
            raise StudyError(
                f"study {name!r} was begun with {', '.join(differing)}; "
                "go on with the same options, also where a preset has changed since, or start another with --name"
            )
        return there
    if study.trials or [direction.name.lower() for direction in study.directions] != list(DIRECTIONS):
        raise StudyError(f"study {name!r} exists and was not made by this command; choose another --name")
    settings = settings.keeping()
    # Several processes may come here together; they write the same.
    study.set_user_attr("task", settings.task)
    study.set_user_attr("agent", in_space(settings.agent, settings.searched))
    study.set_user_attr("protocol", settings.protocol)
    study.set_user_attr("settings", settings.as_json())
    return settings


def _differing(there: StudySettings, asked: StudySettings) -> list[str]:
    """Each setting that is another in a study that is there; of the same preset each option: it may have changed."""
    names = [entry.name for entry in dataclasses.fields(StudySettings) if entry.compare]
    pairs = {name: (getattr(there, name), getattr(asked, name)) for name in names if name != "fields"}
    if all(pairs[name][0] == pairs[name][1] for name in ("task", "agent", "preset", "learner")):
        before, now = ({o.name: o.value for o in options(one.base(there.seed))} for one in (there, asked))
        pairs = {name: (before.get(name), now.get(name)) for name in {**before, **now}} | pairs
    return [f"{name} {one!r} (asked for: {other!r})" for name, (one, other) in pairs.items() if one != other]


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
