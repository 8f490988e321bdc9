"""A real trial whose worker is killed goes on from its checkpoint, in the same run folder."""

import signal

import pytest

from neuroplastic.search.settings import TRIAL
from tests.search.studies import Background, begin, trials_of, wait_for, worker_processes


@pytest.mark.slow
def test_retried_trial_goes_on_from_its_checkpoint_to_the_same_figures(tmp_path):
    made = {}
    for way in ("whole", "killed"):
        folder = tmp_path / way
        folder.mkdir()
        storage = f"sqlite:///{folder}/s.db"
        game = {"epochs": 2, "steps_per_epoch": 50, "episodes": 1, "picture": "fast"}
        job = begin(folder, storage, 1, objective=TRIAL, **game)
        study = Background(job, 1)
        if way == "killed":
            wait_for(
                lambda folder=folder: list(folder.glob("runs/s/slot-0000/*/checkpoints/checkpoint-*")), 600
            )
            for worker in worker_processes():
                worker.send_signal(signal.SIGKILL)
        study.join()
        trials = trials_of(storage)
        made[way] = (trials[-1].values, trials[-1].user_attrs["returns"], trials[-1].user_attrs["epochs"])
        (run,) = (folder / "runs" / "s" / "slot-0000").iterdir()
        assert (run / "best.safetensors").exists()
        assert not (run / "checkpoints").exists(), "a finished trial needs none"
        if way == "killed":
            assert [trial.state.name for trial in trials] == ["FAIL", "COMPLETE"]
            assert trials[1].user_attrs["retry_of"] == 0
            assert trials[1].user_attrs["resumed_at"] >= 50, "the step of a checkpoint"
    assert made["whole"] == made["killed"]
