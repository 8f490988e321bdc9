"""Cheap studies for tests: how they are begun and run, their worker processes, and what a storage holds in the end."""

import threading
import time
from collections import Counter
from contextlib import suppress

import optuna
import psutil
from optuna.trial import TrialState

from neuroplastic.search.settings import StudySettings
from neuroplastic.search.slots import Slots
from neuroplastic.search.storage import open_storage
from neuroplastic.search.studies import create_study, load_study
from neuroplastic.search.worker import Job
from neuroplastic.search.workers import run_workers


def settings(objective: str = "quick", **changes) -> StudySettings:
    where = objective if ":" in objective else f"tests.search.objectives:{objective}"
    own = ("task", "agent", "preset", "learner", "seed", "games", "searched", "prune")
    asked = {"task": "BP", "agent": "dnn", **{name: changes[name] for name in own if name in changes}}
    fields = {"epochs": 2, "episodes": 3, **{name: changes[name] for name in changes if name not in own}}
    return StudySettings.asked(**asked, objective=where, fields=fields)


def begin(folder, storage: str, trials: int, *, objective: str = "quick", name: str = "s", **changes) -> Job:
    """A study that is made and has its slots, and the job of its workers."""
    opened = open_storage(storage)
    create_study(opened, name, settings(objective, **changes))
    Slots(opened.engine, name).create(trials)
    runs = folder / "runs"
    return Job(storage, name, trials, str(runs), witness=str(folder / "stored"), beat=2.0)


def without_kept(storage, name: str, **changes) -> None:
    """Make a study look as an earlier version stored it."""
    study = load_study(storage, name)
    saved = {entry: value for entry, value in study.user_attrs["settings"].items() if entry != "kept"}
    study.set_user_attr("settings", {**saved, **changes})


class Background:
    """A study's run in a thread of this process; its workers are processes."""

    def __init__(self, job: Job, workers: int, on_trial=lambda *_: None) -> None:
        self.error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(job, workers, on_trial), daemon=True)
        self._thread.start()

    def _run(self, job, workers, on_trial) -> None:
        try:
            run_workers(job, workers, on_trial)
        except BaseException as error:
            self.error = error

    @property
    def running(self) -> bool:
        return self._thread.is_alive()

    def join(self) -> None:
        self._thread.join(900)
        assert not self.running
        if self.error is not None:
            raise self.error


def worker_processes() -> list[psutil.Process]:
    """The workers that this process started: children of its fork server."""
    found = []
    with suppress(psutil.NoSuchProcess):
        for child in psutil.Process().children():
            if "forkserver" in " ".join(child.cmdline()):
                found += [p for p in child.children() if p.status() != psutil.STATUS_ZOMBIE]
    return found


def wait_for(condition, seconds: float = 120.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.05)


def lines(path) -> list[tuple[str, ...]]:
    return [tuple(line.split()) for line in path.read_text().splitlines()] if path.exists() else []


def trials_of(storage: str, name: str = "s") -> list[optuna.trial.FrozenTrial]:
    return load_study(open_storage(storage), name).get_trials(deepcopy=False)


def check_whole(folder, storage: str, trials: int) -> list[optuna.trial.FrozenTrial]:
    """None lost, none twice, none left running, by the storage and by both witnesses; all trials of the study.

    A trial that is stored was computed; a trial that was reported as stored is there.
    """
    all_trials = trials_of(storage)
    complete = [trial for trial in all_trials if trial.state == TrialState.COMPLETE]
    assert Counter(trial.state.name for trial in all_trials).keys() <= {"COMPLETE", "FAIL"}
    assert sorted(trial.user_attrs["slot"] for trial in complete) == list(range(trials))
    there = {(str(t.user_attrs["slot"]), str(t.user_attrs["attempt"])) for t in complete}
    computed = Counter(line[:2] for line in lines(folder / "runs" / "s" / "computed"))
    assert there <= computed.keys()
    assert max(computed.values()) == 1
    stored = Counter(line[:2] for line in lines(folder / "stored"))
    assert stored.keys() <= there
    assert max(stored.values()) == 1
    assert sorted(trial.number for trial in all_trials) == list(range(len(all_trials)))
    return all_trials
