"""Sizes that no machine has room for are refused by name before anything is allocated."""

import dataclasses

import pytest
import torch

from neuroplastic.errors import ConfigError
from neuroplastic.experiment.configuration import TrialProtocol
from neuroplastic.experiment.options import with_values
from neuroplastic.experiment.run_folder import RunFolder
from neuroplastic.experiment.tasks import find_task, preset_of
from neuroplastic.experiment.trial import Trial
from neuroplastic.network.dueling import dnn_head


@pytest.mark.parametrize("size", [2**31, 10**30])
@pytest.mark.parametrize(
    ("learner", "option"),
    [
        ("dqn", "memory_size"),
        ("parallel_q", "rollout"),
        ("dqn", "rules"),
        ("dqn", "max_terms"),
        ("dqn", "plain_value"),
    ],
)
def test_run_that_would_need_more_memory_than_there_is_is_refused_with_the_estimate(
    tmp_path, learner, option, size
):
    config = with_values(preset_of(find_task("CartPole-v1"), None, "nfn", learner), {option: size})
    with pytest.raises(ConfigError, match=r"would need .*B, this machine has"):
        Trial(config, RunFolder(tmp_path))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("size", [4097, 2**31, 10**30])
def test_more_games_processes_and_frames_than_any_system_has_are_refused(size):
    with pytest.raises(ConfigError, match="games must be at most 4096"):
        TrialProtocol(games=size)
    with pytest.raises(ConfigError, match="processes must be at most 4096"):
        TrialProtocol(processes=size)
    config = preset_of(find_task("CartPole-v1"), None, "nfn", "parallel_q")
    with pytest.raises(ConfigError, match="training_games must be at most 4096"):
        dataclasses.replace(config.learner, training_games=size)
    with pytest.raises(ConfigError, match="frame_stack must be at most 1000"):
        dataclasses.replace(config.task, frame_stack=size)


def test_heads_without_memory_may_be_of_any_size_that_a_tensor_can_have():
    with torch.device("meta"):
        assert dnn_head(4, 2, 2**20, "ReLU")[0].weight.is_meta
