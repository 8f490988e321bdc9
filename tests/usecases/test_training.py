"""A new run begins with the network of another, with everything but that made anew."""

import pytest
import torch

from neuroplastic.errors import ConfigError
from neuroplastic.experiment.agent import build_agent
from neuroplastic.experiment.run_folder import RunFolder
from neuroplastic.experiment.trial import Trial
from neuroplastic.usecases.opening import open_run
from neuroplastic.usecases.training import TrainRequest, begin_run, configuration, resume_run, started
from tests.small_game import CorridorTask

FIELDS = {"epochs": "2", "steps_per_epoch": "64", "episodes": "2", "training_games": "4", "rollout": "8"}
FIELDS |= {"batch_size": "16", "processes": "0"}


@pytest.fixture
def source(tmp_path) -> RunFolder:
    with begin_run(
        configuration(TrainRequest(CorridorTask(), "nfn", fields=FIELDS)), runs=str(tmp_path / "first")
    ) as trial:
        trial.run()
    return trial.folder


def state(trial: Trial) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in trial.network.state_dict().items()}


def test_weights_and_sets_are_the_other_runs_and_optimizer_and_steps_are_new(source, tmp_path):
    found, config = started(str(source.path), {"seed": "5"})
    assert (config.seed, config.head, config.protocol.epochs) == (5, source.config().head, 2)
    kept = build_agent(config)
    source.load_into(kept, "best")
    with begin_run(config, runs=str(tmp_path / "second"), start=found) as trial:
        begun = state(trial)
        assert trial.trainer.steps == 0
        assert not trial.learner.optimizer.state
        assert trial.metrics == []
        trial.run()
    assert begun.keys() == kept.state_dict().keys()
    assert all(torch.equal(begun[name], value) for name, value in kept.state_dict().items())
    assert trial.trainer.steps == 128


def test_a_run_that_is_killed_before_its_first_epoch_has_the_weights_when_it_goes_on(source, tmp_path):
    found, config = started(str(source.path), {})
    with begin_run(config, runs=str(tmp_path / "second"), start=found) as trial:
        begun = state(trial)
    resumed, step = resume_run(str(trial.folder.path))
    with resumed:
        assert step == 0
        assert all(torch.equal(value, begun[name]) for name, value in state(resumed).items())


def test_another_architecture_is_refused_with_the_names_of_what_differs_and_leaves_no_folder(
    source, tmp_path
):
    config = configuration(TrainRequest(CorridorTask(), fields={"rules": "7"}, start=str(source.path)))
    rules = source.config().head.rules
    with pytest.raises(ConfigError, match=rf"built otherwise: rules {rules} there, 7 here"):
        begin_run(config, runs=str(tmp_path / "second"), start=open_run(source.path))
    plain = configuration(TrainRequest(CorridorTask(), "dnn", start=str(source.path)))
    with pytest.raises(ConfigError, match="agent nfn there, dnn here"):
        begin_run(plain, runs=str(tmp_path / "second"), start=open_run(source.path))
    assert not (tmp_path / "second").exists()
