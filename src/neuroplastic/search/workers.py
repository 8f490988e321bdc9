"""Runs a study with worker processes on this machine, replaces those that die, and stops them with care."""

from __future__ import annotations

import multiprocessing
import os
import secrets
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from optuna.trial import FrozenTrial, TrialState

from .recovery import Recovery, drop_checkpoints
from .settings import TRIAL, StudyError
from .slots import DONE, Slots
from .storage import open_storage, reachable
from .storage_file import StorageFile
from .studies import load_study
from .worker import THREAD_VARIABLES, Job, work

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

POLL_SECONDS = 0.5
RESTARTS_WITHOUT_PROGRESS = 50
LAST_WARNING_SECONDS = 60.0
"""How long workers that were asked to stop have for it."""
LOST = 255
"""Python's exit code of a process whose fork server was killed: nobody knows, and the process may live."""

OnTrial = Callable[[FrozenTrial, int], None]
"""Called with each trial that was completed, by whomever, and how many are complete."""


class Study:
    """What the starter of workers sees of a study: how far it is, and who died."""

    def __init__(self, job: Job, on_trial: OnTrial) -> None:
        self.job, self._on_trial = job, on_trial
        storage = open_storage(job.storage)
        self._file = StorageFile(job.storage)
        self._study = load_study(storage, job.study)
        self.slots = Slots(storage.engine, job.study)
        self.slots.create(job.trials)
        self._recovery = Recovery(storage, self._study, self.slots, job.grace)
        self._told = {trial.number for trial in self._finished()}
        self.done = 0
        self._restarts = 0

    def look(self, dead: tuple[str, ...] = ()) -> bool:
        """Recover what dead workers left, tell of new trials; whether all trials are complete."""
        self._file.check()
        with reachable(self.job.storage):
            self._recovery.look(dead)
            done = self.slots.count(self.job.trials)[DONE]
            finished = self._finished() if done > self.done else []
        for trial in finished:
            self._restarts = 0
            if trial.number not in self._told:
                self._told.add(trial.number)
                self._on_trial(trial, done)
        self.done = done
        if done < self.job.trials:
            return False
        for slot in range(self.job.trials):  # a worker that was killed right after its trial has dropped none
            drop_checkpoints(self.job.folder(slot))
        return True

    def _finished(self) -> list[FrozenTrial]:
        return self._study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))

    def worker_error(self, reason: str) -> StudyError:
        """What to say when a worker ended with an error of its own."""
        failures = [t.user_attrs["failure"] for t in self._study.get_trials() if "failure" in t.user_attrs]
        last = f"the last trial that failed: {failures[-1]}" if failures else reason
        return StudyError(
            f"a worker ended with an error ({last}); finished trials are safe: mend the cause and run the same "
            "command again"
        )

    def may_restart(self) -> None:
        """Count a worker that has to be replaced; too many without a trial between are an error."""
        self._restarts += 1
        if self._restarts > RESTARTS_WITHOUT_PROGRESS:
            raise StudyError(
                f"{self._restarts} workers ended one after another and no trial was completed; finished trials are "
                "safe: see the workers' messages above, then run the same command again"
            )


def run_workers(job: Job, workers: int, on_trial: OnTrial = lambda *_: None) -> None:
    """Have `job.trials` trials completed by `workers` processes; returns when that is so.

    KeyboardInterrupt stops the workers, whose trials save what they need to go on, and is raised again. A worker
    that ends with an error of its own ends the study's run; one that is killed is replaced.
    """
    study = Study(job, on_trial)
    if study.look():
        return
    children: dict[str, BaseProcess] = {}
    try:
        with _few_threads(job.threads):
            for _ in range(min(workers, job.trials - study.done)):
                _start(job, children)
            while True:
                time.sleep(POLL_SECONDS)
                ended = {token: child for token, child in children.items() if child.exitcode is not None}
                _end_lost(ended.values())  # before their trials are given to others
                over = study.look(tuple(ended))
                for token in ended:
                    del children[token]
                if over:
                    break
                for child in ended.values():
                    if child.exitcode is not None and 0 < child.exitcode != LOST:
                        raise study.worker_error("see its message above")
                    study.may_restart()
                    _start(job, children)
    finally:
        _stop(children)
        study.look(tuple(children))


def _start(job: Job, children: dict[str, BaseProcess]) -> None:
    # A server that has imported everything forks the workers: they start at once and share its memory.
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    if "forkserver" in methods:
        context.set_forkserver_preload([work.__module__, TRIAL.partition(":")[0]])
    for last in (False, False, True):
        token = secrets.token_hex(6)
        child = context.Process(target=work, args=(job, token), daemon=True, name=f"worker-{token}")  # type: ignore[attr-defined]
        try:
            child.start()
        except (
            OSError,
            EOFError,
        ) as error:  # the server was killed this very moment; then another is started
            if last:
                raise StudyError(f"no worker can be started: {error}") from error
        else:
            children[token] = child
            return


def _end_lost(children: Iterable[BaseProcess]) -> None:
    """Ask workers whose fork server was killed to stop, as `_stop` does, and wait until they are gone."""
    lost = [child.pid for child in children if child.exitcode == LOST and child.pid is not None]
    deadline = time.monotonic() + LAST_WARNING_SECONDS
    for pid in lost:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    for pid in lost:
        with suppress(ProcessLookupError):
            while time.monotonic() < deadline:
                os.kill(pid, 0)
                time.sleep(0.05)
            os.kill(pid, signal.SIGKILL)


def _stop(children: dict[str, BaseProcess]) -> None:
    """Ask all to stop, and kill those that do not in a minute, or at once at the next Ctrl-C."""
    for child in children.values():
        child.terminate()
    deadline = time.monotonic() + LAST_WARNING_SECONDS
    try:
        for child in children.values():
            child.join(max(0.0, deadline - time.monotonic()))
    finally:
        for child in children.values():
            if child.exitcode is None:
                child.kill()
                child.join()
        _end_lost(children.values())


@contextmanager
def _few_threads(threads: int) -> Iterator[None]:
    """Workers' libraries read these variables when they are imported, which is before a worker can set them."""
    before = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(threads)))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
