"""A study as files: the best trial as a preset, all finished trials as a table."""

from __future__ import annotations

import csv
import dataclasses
import io
from pathlib import Path

import optuna
from optuna.trial import FrozenTrial

from ..experiment.configuration import RunConfig
from ..experiment.saved_preset import preset_text
from ..whole_files import write_whole
from .settings import StudyError, StudySettings
from .space import in_space
from .studies import complete, settings_of


def trial_config(settings: StudySettings, trial: FrozenTrial) -> RunConfig:
    """The run that a trial of the study was."""
    return settings.config(trial.params, int(trial.user_attrs["slot"]))


def export_preset(study: optuna.Study, trial: FrozenTrial) -> str:
    """A trial as the content of a preset file."""
    config = dataclasses.replace(
        trial_config(settings_of(study), trial), preset=f"{study.study_name}-trial{trial.number}"
    )
    mean, sd, slope = trial.values
    origin = {
        "study": study.study_name,
        "trial": trial.number,
        "mean": mean,
        "sd": sd,
        "slope": slope,
        "protocol": trial.user_attrs["protocol"],
    }
    return preset_text(config, origin)


def export_table(study: optuna.Study) -> str:
    """All finished trials as CSV: figures, hyperparameters (inherited ones too), and the protocol of each."""
    settings = settings_of(study)
    trials = complete(study)
    agent = in_space(settings.agent, settings.searched)
    names = sorted({name for trial in trials for name in trial.params})
    header = ["trial", "task", "agent", "mean", "sd", "slope", "best_epoch", "episodes", "seed", "seconds"]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*header, "pruned", *names, *settings.inherited, "protocol"])
    for trial in trials:
        noted = trial.user_attrs
        figures = [*trial.values, noted["best_epoch"], len(noted["returns"]), noted["seed"], noted["seconds"]]
        point = [trial.params.get(name, "") for name in names]
        row = [trial.number, settings.task, agent, *figures, noted.get("pruned", False), *point]
        writer.writerow([*row, *settings.inherited.values(), noted["protocol"]])
    return text.getvalue()


def write_new(contents: dict[str, str]) -> None:
    """Write files that do not exist yet: all of them, or none where one is in the way."""
    for name in contents:
        if Path(name).exists():
            raise StudyError(f"{name} exists and is left as it is; name another file or move it away")
        if not Path(name).absolute().parent.is_dir():
            raise StudyError(f"the folder of {name} does not exist; make it first")
    for name, content in contents.items():
        try:
            write_whole(name, content.encode())
        except OSError as error:
            raise StudyError(f"{name} cannot be written: {error.strerror}") from error
