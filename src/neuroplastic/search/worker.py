"""One worker: takes slots of a study, makes a trial for each, until all are filled."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import signal
import socket
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

import optuna
import torch
from optuna.exceptions import UpdateFinishedTrialError
from optuna.trial import FrozenTrial, TrialState

from .. import catalog
from ..errors import NeuroplasticError
from ..memory import keep_freed_memory
from .figures import check_figures
from .liveness import worker_name
from .objective import Assignment, Outcome, TrialFailed, TrialStopped, find_objective, means_of
from .pruning import lags
from .recovery import fail, trials_of_slot
from .sampling import as_sampled, sampler
from .settings import StudyError
from .slots import DONE, Lease, Slots
from .space import distributions, draw
from .storage import open_storage
from .studies import load_study, settings_of

THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
ERRORS_AFTER_RETRIES = 3
"""A worker ends after so many errors in a row and as many more as a trial is tried again: it meets other parameters."""


@dataclass(frozen=True)
class Job:
    """What a worker needs to know that does not change the study's numbers."""

    storage: str
    study: str
    trials: int
    runs: str
    device: str = "cpu"
    threads: int = 1
    retries: int = 3
    """How often a trial that came to grief is tried again with the same parameters before others are drawn."""
    beat: float = 5.0
    """Seconds between signs of life."""
    grace: float = 60.0
    """Seconds without a sign of life after which a worker that cannot be looked at counts as dead."""
    witness: str = ""
    """A file that gets a line `slot attempt number` once a trial is safely stored; empty for none."""
    modules: tuple[str, ...] = ()
    """Modules outside this package that tasks and learners are registered in."""

    def folder(self, slot: int) -> Path:
        """Where the trials of a slot keep what they need to go on."""
        return Path(self.runs) / self.study / f"slot-{slot:04d}"


class Heart:
    """Shows in the background that a lease's worker lives, and sets the worker's `stop` when it should not go on."""

    def __init__(self, slots: Slots, lease: Lease, stop: threading.Event, seconds: float) -> None:
        self._slots, self._lease, self._stop, self._seconds = slots, lease, stop, seconds
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)

    def __enter__(self) -> Heart:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _beat(self) -> None:
        while not self._over.wait(self._seconds):
            try:
                going = self._slots.beat(self._lease)
            except Exception as error:  # a storage that is away for a moment must not end a long trial
                print(f"neuroplastic: no sign of life could be given ({error})", file=sys.stderr)
                continue
            if not going:
                self._stop.set()


class Worker:
    """A worker of a study. `stop` ends it as soon as its trial has saved what it needs to go on."""

    def __init__(self, job: Job, token: str, stop: threading.Event, node: str = "") -> None:
        self.job, self.stop, self.node = job, stop, node or socket.gethostname()
        self.name = worker_name(token)
        self._rdb = open_storage(job.storage)
        # Finished trials are read once; a Study is made for each trial, with that trial's own sampler.
        self._cached = optuna.storages.get_storage(self._rdb)
        study = load_study(self._rdb, job.study)
        self._settings = settings_of(study)
        self._protocol = study.user_attrs.get(
            "protocol", self._settings.protocol
        )  # as the study has it from its start
        self._study_id = self._rdb.get_study_id_from_name(job.study)
        self._objective = find_objective(self._settings.objective)
        self._slots = Slots(self._rdb.engine, job.study)

    def run(self) -> None:
        """Make trials until all are complete, or until told to stop."""
        errors = 0
        while not self.stop.is_set():
            lease = self._slots.take(self.name, self.job.trials)
            if lease is None:
                if self._slots.count(self.job.trials)[DONE] >= self.job.trials:
                    return
                self.stop.wait(0.5)  # the rest is in others' hands, unless they die
                continue
            error = self._make(lease)
            errors = errors + 1 if error else 0
            if errors == self.job.retries + ERRORS_AFTER_RETRIES:
                raise StudyError(f"{errors} trials in a row failed, the last with {error}")

    def _make(self, lease: Lease) -> str:
        """Make one trial; the error that it ended with, or an empty text."""
        heart = partial(Heart, self._slots, lease, self.stop, self.job.beat)
        with heart():
            trial = self._begin(lease)
        try:
            began = time.monotonic()
            # At rest before the slot is filled or let go: a slot that is no longer held would make it stop the worker.
            with heart():
                outcome = self._objective(self._assignment(trial, lease))
            self._complete(trial, lease, outcome, time.monotonic() - began)
            return ""
        except TrialStopped:
            self._give_up(trial, lease, "stopped", tries=lease.tries)
            return ""
        except UpdateFinishedTrialError:
            print(f"neuroplastic: trial {trial.number} was given to another worker", file=sys.stderr)
            return ""
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            print(f"neuroplastic: trial {trial.number} failed: {text}", file=sys.stderr)
            if not isinstance(error, NeuroplasticError):
                traceback.print_exc()
            self._give_up(trial, lease, text, tries=lease.tries + 1)
            return text

    def _begin(self, lease: Lease) -> FrozenTrial:
        """A running trial that carries point and lease from its first moment: no kill can leave it without."""
        round_ = lease.tries // (self.job.retries + 1)
        study = optuna.load_study(
            study_name=self.job.study,
            storage=self._cached,
            sampler=sampler(self._settings, lease.slot, round_),
        )
        attributes: dict[str, Any] = {
            "slot": lease.slot,
            "attempt": lease.attempt,
            "round": round_,
            "worker": lease.worker,
            "node": self.node,
            "protocol": self._protocol,
            "seed": self._settings.seed + lease.slot,
            "device": self.job.device,
        }
        axes = self._settings.space()
        space = distributions(axes)
        before = trials_of_slot(study, lease.slot)[-1:]
        if before and before[0].user_attrs["round"] == round_ and before[0].params.keys() == space.keys():
            attributes["retry_of"] = before[0].number
            params = before[0].params
        else:
            first = self._settings.first_point() if (lease.slot, round_) == (0, 0) else None
            params = first or draw(as_sampled(study, self._settings), axes)
        template = optuna.trial.create_trial(
            state=TrialState.RUNNING, params=params, distributions=space, user_attrs=attributes
        )
        return self._rdb.get_trial(self._rdb.create_new_trial(self._study_id, template))

    def _assignment(self, trial: FrozenTrial, lease: Lease) -> Assignment:
        def report(epochs: Sequence[Mapping[str, float]]) -> bool:
            self._rdb.set_trial_user_attr(trial._trial_id, "epochs", [dict(epoch) for epoch in epochs])
            return not (self._settings.prune and self._lags(epochs))

        return Assignment(
            config=self._settings.config(trial.params, lease.slot),
            params={**self._settings.inherited, **trial.params},
            slot=lease.slot,
            attempt=lease.attempt,
            folder=self.job.folder(lease.slot),
            device=self.job.device,
            stop=self.stop,
            report=report,
            new_episodes=self._settings.new_episodes,
        )

    def _lags(self, epochs: Sequence[Mapping[str, float]]) -> bool:
        """Whether a trial with these epochs is to end early, by the trials that are finished now."""
        finished = self._cached.get_all_trials(self._study_id, deepcopy=False, states=(TrialState.COMPLETE,))
        for trial in finished:
            check_figures(self.job.study, trial)
        return lags(
            means_of(epochs),
            [means_of(trial.user_attrs["epochs"]) for trial in finished],
            planned=self._settings.epochs,
        )

    def _complete(self, trial: FrozenTrial, lease: Lease, outcome: Outcome, seconds: float) -> None:
        values = outcome.values
        asked, played = self._settings.new_episodes, len(outcome.new_returns)
        if played != asked:
            raise TrialFailed(f"{self._settings.objective} played {played} new episodes of {asked}")
        attributes = {
            "epochs": [dict(epoch) for epoch in outcome.epochs],
            "returns": list(outcome.returns),
            "best_epoch": outcome.best["epoch"],
            "resumed_at": outcome.resumed_at,
            "pruned": outcome.pruned,
            "seconds": round(seconds, 3),
            **({"new_returns": list(outcome.new_returns)} if outcome.new_returns else {}),
        }
        for name, value in attributes.items():
            self._rdb.set_trial_user_attr(trial._trial_id, name, value)
        if not self._slots.begin_finish(lease):
            self._give_up(trial, lease, "its worker lost the slot", tries=lease.tries)
            return
        self._rdb.set_trial_state_values(trial._trial_id, TrialState.COMPLETE, values)
        self._slots.finish(lease)
        if self.job.witness:
            add_line(self.job.witness, f"{lease.slot} {lease.attempt} {trial.number}")
        outcome.clean_up()

    def _give_up(self, trial: FrozenTrial, lease: Lease, reason: str, *, tries: int) -> None:
        fail(self._rdb, trial, reason)
        self._slots.reopen(lease, tries=tries)


def add_line(path: str, line: str) -> None:
    """Add a line to a file that several processes write, and have it on the disk before this returns."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        os.write(descriptor, f"{line}\n".encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def work(job: Job, token: str) -> None:
    """Be a worker: the main function of a process that does nothing else. A request to end is obeyed with care."""
    stop = threading.Event()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal's Ctrl-C is for the command that started us
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    threading.Thread(target=_end_with_parent, args=(stop,), daemon=True).start()
    try:
        run_worker(job, token, stop)
    except NeuroplasticError as error:
        print(f"neuroplastic: a worker ends: {error}", file=sys.stderr)
        sys.exit(2)


def run_worker(job: Job, token: str, stop: threading.Event, node: str = "") -> None:
    """Work in the present process with the threads that the job allows; trials carry the name of the node."""
    for variable in THREAD_VARIABLES:
        os.environ[variable] = str(job.threads)
    torch.set_num_threads(job.threads)
    keep_freed_memory()
    for module in job.modules:
        catalog.import_own(module)
    warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
    Worker(job, token, stop, node).run()


def _end_with_parent(stop: threading.Event) -> None:
    """Stop as soon as the command that started us is gone, however it ended."""
    starter = multiprocessing.parent_process()
    if starter is not None:
        multiprocessing.connection.wait([starter.sentinel])
        stop.set()
