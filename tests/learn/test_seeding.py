import json

import numpy as np
import pytest
import torch

from neuroplastic.errors import ConfigError
from neuroplastic.learn import RandomStreams, episode_seed


def draws(streams: RandomStreams) -> list[object]:
    return [streams.exploration.random(3).tolist(), streams.replay.random(3).tolist(), torch.rand(3).tolist()]


def test_equal_seeds_give_equal_streams_and_others_differ():
    assert draws(RandomStreams(5)) == draws(RandomStreams(5))
    five, six = draws(RandomStreams(5)), draws(RandomStreams(6))
    assert all(a != b for a, b in zip(five, six, strict=True))


def test_streams_do_not_disturb_each_other():
    one, other = RandomStreams(1), RandomStreams(1)
    other.replay.random(1000)
    torch.rand(1000)
    assert one.exploration.random() == other.exploration.random()


def test_states_survive_json_and_restore_every_generator():
    streams = RandomStreams(3)
    draws(streams)
    state = streams.state_dict()
    numbers = json.loads(json.dumps({name: state[name] for name in ("seed", "exploration", "replay")}))
    first = draws(streams)
    fresh = RandomStreams(99)
    fresh.load_state_dict({**numbers, "torch": state["torch"], "cuda": []})
    assert draws(fresh) == first
    assert fresh.seed == 3


def test_missing_cuda_devices_are_reported():
    streams = RandomStreams(3)
    state = {**streams.state_dict(), "cuda": [torch.zeros(16, dtype=torch.uint8)] * 99}
    with pytest.warns(UserWarning, match="99 CUDA devices"):
        streams.load_state_dict(state)


def test_training_and_evaluation_seeds_never_meet():
    training = {episode_seed(7, k) for k in range(2000)}
    evaluation = {episode_seed(7, k, "evaluation") for k in range(2000)}
    assert not training & evaluation
    assert len(training) == len(evaluation) == 2000
    assert all(0 <= seed < 2**31 for seed in training | evaluation)
    assert np.std([*training]) > 2**29  # spread over the whole range


def test_a_negative_seed_is_refused():
    with pytest.raises(ConfigError, match="seed must be a whole number of at least 0"):
        RandomStreams(-1)
