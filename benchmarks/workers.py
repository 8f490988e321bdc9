"""Trials per hour of a study with one worker and with two: real trials of the game, all of the same cost."""

from __future__ import annotations

import dataclasses
import tempfile

from neuroplastic.doom.presets import preset
from neuroplastic.experiment.options import with_values
from neuroplastic.search.objective import Assignment, Outcome
from neuroplastic.search.settings import StudySettings
from neuroplastic.search.storage import open_storage
from neuroplastic.search.studies import complete, create_study, load_study
from neuroplastic.search.trial_objective import run_trial
from neuroplastic.search.worker import Job
from neuroplastic.search.workers import run_workers

TRIALS = 8
LIMIT = 1.7
PROTOCOL = {"epochs": 2, "steps_per_epoch": 150, "episodes": 5, "picture": "fast", "games": 1}


def one_trial(assignment: Assignment) -> Outcome:
    """A trial of the plain agent on pistol practice, the same for every point of the space."""
    fixed = with_values(preset("tuned", "BP", "dnn"), PROTOCOL)
    return run_trial(dataclasses.replace(assignment, config=fixed))


def trials_per_hour(workers: int, trials: int = TRIALS) -> float:
    """From the start of the first trial to the end of the last: the start of Python does not count."""
    with tempfile.TemporaryDirectory() as folder:
        storage = open_storage(f"sqlite:///{folder}/studies.db")
        create_study(
            storage, "speed", StudySettings.asked("BP", "dnn", objective="benchmarks.workers:one_trial")
        )
        run_workers(Job(f"sqlite:///{folder}/studies.db", "speed", trials, folder), workers)
        made = complete(load_study(storage, "speed"))
    starts = [trial.datetime_start for trial in made if trial.datetime_start]
    ends = [trial.datetime_complete for trial in made if trial.datetime_complete]
    return 3600 * len(made) / (max(ends) - min(starts)).total_seconds()


def main() -> None:
    one, two = trials_per_hour(1), trials_per_hour(2)
    print(f"1 worker   {one:8.0f} trials per hour (2 epochs of 150 steps, 5 episodes, fast picture)")
    print(f"2 workers  {two:8.0f} trials per hour")
    print(f"ratio      {two / one:8.2f}  limit {LIMIT}  {'ok' if two / one >= LIMIT else 'MISSED'}")
