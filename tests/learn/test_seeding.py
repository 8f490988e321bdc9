import json

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


def test_a_negative_seed_is_refused():
    with pytest.raises(ConfigError, match="seed must be a whole number of at least 0"):
        RandomStreams(-1)


def test_episode_seed_is_pinned():
    # Results in the docs were made with these; changing them changes every run.
    assert [episode_seed(0, k) for k in range(3)] == [1973245778, 572658289, 1933885978]
    assert [episode_seed(7, k, stream="evaluation") for k in range(3)] == [3292046182, 4201796322, 2155376738]


def test_seeds_fit_the_engine_and_streams_are_disjoint():
    for run_seed in (0, 1, 2**64 - 1):
        for episode in (0, 1, 5000, 2**31 - 1):
            assert 0 <= episode_seed(run_seed, episode) < 2**31
            assert 2**31 <= episode_seed(run_seed, episode, stream="evaluation") < 2**32


def test_no_two_episodes_of_a_run_share_a_seed():
    assert len({episode_seed(3, k) for k in range(50_000)}) == 50_000


def test_runs_share_hardly_any_episode():
    runs = [{episode_seed(s, k) for k in range(2_000)} for s in range(20)]
    assert len(set().union(*runs)) > 0.999 * 20 * 2_000


def test_neighbouring_episodes_differ_in_half_of_their_bits():
    flipped = [(episode_seed(0, k) ^ episode_seed(0, k + 1)).bit_count() for k in range(2_000)]
    assert 14.5 < sum(flipped) / len(flipped) < 16.5


@pytest.mark.parametrize(("run_seed", "episode"), [(-1, 0), (2**64, 0), (0, -1), (0, 2**31)])
def test_seed_out_of_range_is_refused(run_seed, episode):
    with pytest.raises(ConfigError, match="must be at least 0 and below"):
        episode_seed(run_seed, episode)


def test_unknown_stream_is_refused():
    with pytest.raises(ConfigError, match="did you mean 'training'"):
        episode_seed(0, 0, stream="trainig")  # type: ignore[arg-type]
