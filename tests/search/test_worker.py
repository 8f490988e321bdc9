"""One worker, in this process: when other parameters are drawn, when it ends, and what it leaves on the disk."""

import threading
from dataclasses import replace

import pytest

from neuroplastic.doom.presets import preset
from neuroplastic.experiment.run_folder import EpochMetrics, RunFolder
from neuroplastic.experiment.trial import summarise
from neuroplastic.search import trial_objective
from neuroplastic.search.liveness import place, surely_dead
from neuroplastic.search.objective import Assignment
from neuroplastic.search.settings import StudyError
from neuroplastic.search.worker import ERRORS_AFTER_RETRIES, Worker
from neuroplastic.search.workers import run_workers
from tests.search.studies import begin, trials_of


def work(job) -> None:
    Worker(job, "token", threading.Event()).run()


def test_parameters_that_always_fail_are_drawn_anew_after_the_retries(tmp_path):
    storage = f"sqlite:///{tmp_path}/s.db"
    work(replace(begin(tmp_path, storage, 1, objective="failing_three_times"), retries=2))
    *failed, made = trials_of(storage)
    assert [trial.user_attrs.get("retry_of") for trial in failed] == [None, 0, 1]
    assert failed[0].params == failed[1].params == failed[2].params
    assert made.state.name == "COMPLETE"
    assert made.params != failed[0].params
    assert "retry_of" not in made.user_attrs


def test_worker_whose_trials_all_fail_ends_once_it_has_seen_other_parameters(tmp_path):
    storage = f"sqlite:///{tmp_path}/s.db"
    with pytest.raises(StudyError, match="4 trials in a row failed"):
        work(replace(begin(tmp_path, storage, 1, objective="failing"), retries=4 - ERRORS_AFTER_RETRIES))
    assert len({str(trial.params) for trial in trials_of(storage)}) == 2


def test_sign_of_life_in_the_moment_a_trial_ends_does_not_end_the_worker(tmp_path):
    storage = f"sqlite:///{tmp_path}/s.db"
    work(replace(begin(tmp_path, storage, 12), beat=0.0005))
    assert [trial.state.name for trial in trials_of(storage)] == ["COMPLETE"] * 12


def with_a_checkpoint(parent, seed: int) -> RunFolder:
    folder = RunFolder.create(parent, preset("tuned", "BP", "dnn", seed=seed))
    folder.checkpoints.save(5, {"step": 5})
    return folder


class Ended:
    """A trial that is at its end as soon as it runs."""

    def __init__(self, config, folder, *, device) -> None:
        self.metrics = [EpochMetrics(1, 5, 1.0, 0.0, 1.0, 1.0, 1, 0.0, 1.0, 0, 0, None)]
        folder.checkpoints.save(5, {"step": 5})

    def __enter__(self):
        return self

    def __exit__(self, *_) -> None:
        pass

    def resume(self) -> int:
        return 0

    def run(self, on_progress):
        return summarise(self.metrics)


def test_finished_trial_keeps_no_checkpoint_nor_do_parameters_that_were_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(trial_objective, "Trial", Ended)
    earlier = with_a_checkpoint(tmp_path, seed=1)
    config = preset("tuned", "BP", "dnn", seed=2)
    outcome = trial_objective.run_trial(
        Assignment(config, {}, 0, 2, tmp_path, "cpu", threading.Event(), lambda _: None)
    )
    assert len(list(tmp_path.glob("*/checkpoints/checkpoint-*"))) == 2, "they go once the trial is stored"
    outcome.clean_up()
    assert not list(tmp_path.glob("*/checkpoints"))
    assert earlier.config().seed == 1


def test_checkpoints_of_a_worker_killed_right_after_its_trial_are_dropped_in_the_end(tmp_path):
    job = begin(tmp_path, f"sqlite:///{tmp_path}/s.db", 1)
    work(job)
    left = with_a_checkpoint(job.folder(0), seed=1)
    run_workers(job, 1)
    assert left.config()
    assert not left.checkpoints.folder.exists()


def test_process_is_not_asked_where_the_question_would_be_ctrl_c(monkeypatch):
    def kill(*_):
        raise AssertionError

    monkeypatch.setattr("os.kill", kill)
    monkeypatch.setattr("sys.platform", "win32")
    assert not surely_dead(f"{place()}/17/token")
