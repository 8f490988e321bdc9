"""Workers are killed without warning: no finished trial is lost, none is made twice, none runs for ever."""

import os
import random
import signal
import time

import psutil
import pytest
from optuna.trial import TrialState, create_trial

from neuroplastic.search.best import best_of
from neuroplastic.search.recovery import Recovery
from neuroplastic.search.slots import OPEN, Slots
from neuroplastic.search.storage import open_storage
from neuroplastic.search.studies import load_study
from neuroplastic.search.workers import run_workers
from tests.search.studies import Background, begin, check_whole, trials_of, worker_processes


def run_with_kills(job, *, every, at_most=10**6) -> int:
    """Have a job done by four workers, of which one is killed every so often; the number of kills."""
    study = Background(job, 4)
    generator, kills = random.Random(1), 0
    while study.running:
        time.sleep(every)
        alive = worker_processes()
        if alive and kills < at_most:
            try:
                generator.choice(alive).send_signal(signal.SIGKILL)
                kills += 1
            except psutil.NoSuchProcess:
                pass
    study.join()
    return kills


def test_killed_workers_lose_no_trial_and_make_none_twice(tmp_path, storage):
    job = begin(tmp_path, storage, 12, objective="fifth_of_a_second")
    kills = run_with_kills(job, every=0.5, at_most=3)
    trials = check_whole(tmp_path, storage, 12)
    assert kills >= 1
    by_number = {trial.number: trial for trial in trials}
    for trial in trials:
        if "retry_of" in trial.user_attrs:
            before = by_number[trial.user_attrs["retry_of"]]
            assert before.state == TrialState.FAIL
            assert before.user_attrs["slot"] == trial.user_attrs["slot"]
            assert before.params == trial.params
    assert best_of([trial for trial in trials if trial.state == TrialState.COMPLETE])


@pytest.mark.slow
def test_hundred_trials_with_a_worker_killed_every_second(tmp_path, storage):
    job = begin(tmp_path, storage, 100, objective="second")
    kills = run_with_kills(job, every=1.0)
    trials = check_whole(tmp_path, storage, 100)
    assert kills >= 20
    assert sum(trial.state == TrialState.COMPLETE for trial in trials) == 100
    reasons = [trial.user_attrs["failure"] for trial in trials if trial.state == TrialState.FAIL]
    assert all("died" in reason or "lost the slot" in reason for reason in reasons)


def test_trial_killed_before_its_first_sign_of_life_is_marked_and_tried_again(tmp_path):
    storage = f"sqlite:///{tmp_path}/studies.db"
    job = begin(tmp_path, storage, 3, objective="killed_before_its_first_sign_of_life")
    run_workers(job, 1)
    trials = check_whole(tmp_path, storage, 3)
    (dead,) = [trial for trial in trials if trial.state == TrialState.FAIL]
    assert "died" in dead.user_attrs["failure"]
    (again,) = [trial for trial in trials if trial.user_attrs.get("retry_of") == dead.number]
    assert again.params == dead.params
    assert again.state == TrialState.COMPLETE


def _running_trial(storage, job, worker):
    """What a worker leaves that is killed in the middle of a trial."""
    opened = open_storage(storage)
    slots = Slots(opened.engine, job.study)
    lease = slots.take(worker, job.trials)
    attributes = {"slot": lease.slot, "attempt": lease.attempt, "round": 0}
    study = load_study(opened, job.study)
    study.add_trial(create_trial(state=TrialState.RUNNING, user_attrs=attributes))
    return opened, study, slots, lease


def test_silent_worker_of_another_machine_is_given_up_after_the_grace_not_before(tmp_path):
    storage = f"sqlite:///{tmp_path}/studies.db"
    job = begin(tmp_path, storage, 1)
    opened, study, slots, lease = _running_trial(storage, job, "elsewhere-0123/17/token")
    recovery = Recovery(opened, study, slots, grace=2)
    recovery.look()
    slots.beat(lease)
    time.sleep(1.2)
    recovery.look()
    time.sleep(1.2)
    recovery.look()
    assert study.get_trials()[0].state == TrialState.RUNNING, "its beat had moved: it is alive"
    time.sleep(2.2)
    recovery.look()
    assert study.get_trials()[0].state == TrialState.FAIL
    assert slots.count()[OPEN] == 1
    assert not slots.beat(lease)


def test_worker_that_was_taken_for_dead_cannot_complete_its_slot(tmp_path):
    storage = f"sqlite:///{tmp_path}/studies.db"
    job = begin(tmp_path, storage, 1)
    opened, study, slots, lease = _running_trial(storage, job, "elsewhere-0123/17/token")
    Recovery(opened, study, slots, grace=60).look(dead=("token",))
    assert not slots.begin_finish(lease)
    newer = slots.take("elsewhere-0123/18/other", 1)
    assert newer.attempt == lease.attempt + 1
    assert not slots.begin_finish(lease)
    assert slots.begin_finish(newer)


def test_trial_completed_in_the_moment_of_its_workers_death_stays_complete(tmp_path):
    storage = f"sqlite:///{tmp_path}/studies.db"
    job = begin(tmp_path, storage, 1)
    opened, study, slots, lease = _running_trial(storage, job, "elsewhere-0123/17/token")
    assert slots.begin_finish(lease)
    opened.set_trial_state_values(study.get_trials()[0]._trial_id, TrialState.COMPLETE, (1.0, 0.0, 0.0))
    Recovery(opened, study, slots, grace=60).look(dead=("token",))
    assert slots.count() == {"open": 0, "taken": 0, "finishing": 0, "done": 1}
    assert [trial.state for trial in study.get_trials()] == [TrialState.COMPLETE]


def test_trial_begun_by_a_worker_that_had_lost_its_slot_does_not_run_for_ever(tmp_path):
    storage = f"sqlite:///{tmp_path}/studies.db"
    job = begin(tmp_path, storage, 1)
    opened = open_storage(storage)
    study = load_study(opened, job.study)
    late = {"slot": 0, "attempt": 0, "round": 0}
    study.add_trial(create_trial(state=TrialState.RUNNING, user_attrs=late))
    run_workers(job, 1)
    states = sorted(trial.state.name for trial in trials_of(storage))
    assert states == ["COMPLETE", "FAIL"]


def test_lease_of_a_dead_process_of_this_machine_is_found_at_once(tmp_path):
    from neuroplastic.search.liveness import place, surely_dead

    gone = os.fork()
    if gone == 0:
        os._exit(0)
    os.waitpid(gone, 0)
    assert surely_dead(f"{place()}/{gone}/token")
    assert not surely_dead(f"{place()}/{os.getpid()}/token")
    assert not surely_dead(f"elsewhere-0123/{gone}/token")
