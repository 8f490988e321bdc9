"""Runs a study with workers spread over a Ray cluster."""

from __future__ import annotations

import secrets
import threading
import time
from typing import Any

from ..errors import MissingPackageError
from .settings import StudyError
from .worker import Job, run_worker
from .workers import LAST_WARNING_SECONDS, POLL_SECONDS, OnTrial, Study


def run_on_ray(
    job: Job, workers: int, on_trial: OnTrial = lambda *_: None, *, address: str | None = None
) -> None:
    """Have `job.trials` trials completed by `workers` tasks of a cluster, each on a core; returns when that is so.

    Every node must have this package and reach the storage. A worker whose node is lost is started elsewhere, as
    soon as a core is free. KeyboardInterrupt stops the workers and is raised again.
    """
    try:
        import ray
    except ImportError as error:
        raise MissingPackageError("--engine ray needs Ray: pip install 'neuroplastic[ray]'") from error
    study = Study(job, on_trial)
    if study.look():
        return
    started_here = not ray.is_initialized()
    if started_here:
        try:
            ray.init(address=address or "auto", log_to_driver=True, logging_level="warning")
        except ConnectionError as error:
            raise StudyError(
                f"no Ray cluster can be reached ({error}); start one with: ray start --head"
            ) from error
    make = ray.remote(num_cpus=1, max_retries=0, scheduling_strategy="SPREAD")(_ray_worker)
    tasks: dict[Any, str] = {}

    def start() -> None:
        token = secrets.token_hex(6)
        tasks[make.remote(job, token)] = token

    try:
        for _ in range(min(workers, job.trials - study.done)):
            start()
        while True:
            ended, _ = ray.wait(list(tasks), num_returns=len(tasks), timeout=POLL_SECONDS)
            over = study.look(tuple(tasks[task] for task in ended))
            for task in ended:
                del tasks[task]
                if over:
                    continue
                _raise_own_errors(ray, study, task)
                study.may_restart()
                start()
            if over:
                break
    finally:
        _stop(ray, study, tasks)
        study.look(tuple(tasks.values()))
        if started_here:
            ray.shutdown()


def _ray_worker(job: Job, token: str) -> None:
    import ray

    run_worker(job, token, threading.Event(), ray.get_runtime_context().get_node_id())


def _raise_own_errors(ray: Any, study: Study, task: Any) -> None:
    """An error of the worker's own ends the study; the loss of its node or process does not."""
    try:
        ray.get(task)
    except ray.exceptions.RayTaskError as error:
        raise study.worker_error(str(error.cause)) from error
    except ray.exceptions.RayError:
        return


def _stop(ray: Any, study: Study, tasks: dict[Any, str]) -> None:
    """Ask all to stop through the storage, then end those that did not."""
    for token in tasks.values():
        study.slots.ask_to_stop(token)
    deadline = time.monotonic() + LAST_WARNING_SECONDS
    left = list(tasks)
    held = {lease.worker.rpartition("/")[2] for lease in study.slots.held()}
    waiting = [task for task in left if tasks[task] in held]
    try:
        if waiting:
            ray.wait(waiting, num_returns=len(waiting), timeout=max(0.0, deadline - time.monotonic()))
    finally:
        for task in left:
            ray.cancel(task, force=True)
