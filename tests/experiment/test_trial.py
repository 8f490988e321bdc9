"""A trial: it can be stopped anywhere, its evaluations repeat, and what it keeps is what acted."""

import gc
import weakref
import zlib

import pytest
import torch

from neuroplastic.doom.presets import preset
from neuroplastic.experiment.agent import build_agent
from neuroplastic.experiment.configuration import RunConfig
from neuroplastic.experiment.options import with_values
from neuroplastic.experiment.run_folder import RunFolder
from neuroplastic.experiment.tasks import find_task, preset_of
from neuroplastic.experiment.trial import Progress, Stopped, Trial


def tiny(**fields: object) -> RunConfig:
    return with_values(
        preset("tuned", "BP", "nfn"),
        {
            "epochs": 1,
            "steps_per_epoch": 20,
            "episodes": 4,
            "games": 3,
            "rules": 8,
            "batch_size": 8,
            "picture": "fast",
            "learning_starts": 8,
            **fields,
        },
    )


def test_next_trial_of_a_process_frees_the_one_before(tmp_path):
    """By itself Python looks for cycles when it has made many objects; on a GPU a few hold all the memory."""
    gc.collect()
    gc.disable()
    try:
        folder = RunFolder.create(tmp_path, tiny())
        with Trial(tiny(), folder) as trial:
            learner = weakref.ref(trial.learner)
        del trial
        assert learner() is not None
        with Trial(tiny(), folder):
            assert learner() is None
    finally:
        gc.enable()


def test_evaluation_repeats_bit_for_bit_also_after_a_resume(tmp_path):
    """Batches go to the network as they come, one or two pictures of three games; their values repeat all the same."""
    config = tiny()
    folder = RunFolder.create(tmp_path, config)

    def evaluation(trial: Trial) -> tuple[list[object], int]:
        checksum = 0
        preferences = trial.learner._actor_preferences

        def watched(pictures: torch.Tensor) -> torch.Tensor:
            nonlocal checksum
            values = preferences(pictures)
            checksum = zlib.crc32(values.numpy().tobytes(), checksum)
            return values

        trial.learner._actor_preferences = watched
        results = trial.evaluate(lambda _: None)
        trial.learner._actor_preferences = preferences
        return results, checksum

    with Trial(config, folder) as trial:
        trial.run()
        first = evaluation(trial)
        assert evaluation(trial) == first
        assert sum(result.return_ for result in first[0]) / 4 == pytest.approx(trial.metrics[-1].mean)
    with Trial(config, folder) as resumed:
        assert resumed.resume() == 20
        assert evaluation(resumed) == first


STOPS = {
    "in an epoch": (lambda told: told.step is not None and told.step.step == 50, 50),
    "in an evaluation": (lambda told: told.evaluated == 1 and told.latest is not None, 80),
    "at the end of an epoch": (lambda told: told.step is told.evaluated is None, 40),
}


@pytest.mark.parametrize("moment", STOPS)
def test_a_trial_that_is_stopped_saves_its_state_and_goes_on_to_the_same_figures(tmp_path, moment):
    here, saved = STOPS[moment]
    config = with_values(
        preset_of(find_task("CartPole-v1"), None, "nfn", "dqn"),
        {"epochs": 3, "steps_per_epoch": 40, "episodes": 2, "batch_size": 8, "learning_starts": 8},
    )
    with Trial(config, RunFolder.create(tmp_path / "straight", config)) as straight:
        straight.run()

    folder = RunFolder.create(tmp_path / "stopped", config)
    with Trial(config, folder) as trial:

        def on_progress(told: Progress) -> None:
            trial.stop_requested = trial.stop_requested or here(told)

        with pytest.raises(Stopped):
            trial.run(on_progress)
    assert folder.checkpoints.steps()[-1] == saved
    with Trial(config, folder) as resumed:
        assert resumed.resume() == saved
        resumed.run()
    assert resumed.metrics == straight.metrics
    best = [each.folder.path / "best.safetensors" for each in (resumed, straight)]
    assert best[0].read_bytes() == best[1].read_bytes()


@pytest.mark.parametrize("act_with", ["network", "target"])
def test_networks_on_disk_are_those_that_acted(act_with, tmp_path):
    config = tiny(act_with=act_with, target_every=1, target_rate=0.1)
    folder = RunFolder.create(tmp_path, config)
    with Trial(config, folder) as trial:
        trial.run()
    expected = getattr(trial.learner, act_with).state_dict()
    other = trial.learner.network if act_with == "target" else trial.learner.target
    for which in ("best", "last"):
        loaded = build_agent(config)
        folder.load_into(loaded, which)
        state = loaded.state_dict()
        assert all(torch.equal(state[name], tensor) for name, tensor in expected.items())
        assert not all(torch.equal(state[name], tensor) for name, tensor in other.state_dict().items())
