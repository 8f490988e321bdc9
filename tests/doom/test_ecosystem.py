"""Gymnasium's own wrappers and vectors on BP, as people use them with any environment."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import wrappers
from gymnasium.wrappers.vector import RecordEpisodeStatistics as RecordVectorStatistics

import neuroplastic.doom  # noqa: F401  (registers the ids)

BP = "neuroplastic/BP-v0"


def played_to_the_end(
    env: gymnasium.Env[Any, Any], action: int = 0
) -> tuple[list[Any], float, dict[str, Any]]:
    """One episode of one action: observations, the sum of the rewards, and the last info."""
    observation, info = env.reset(seed=0)
    observations, total, over = [observation], 0.0, False
    while not over:
        observation, reward, terminated, truncated, info = env.step(action)
        observations.append(observation)
        total += float(reward)
        over = terminated or truncated
    env.close()
    return observations, total, info


def made() -> gymnasium.Env[Any, Any]:
    return gymnasium.make(BP, picture="fast", frame_skip=12)


def test_episode_statistics_are_recorded() -> None:
    observations, total, info = played_to_the_end(wrappers.RecordEpisodeStatistics(made()))
    assert info["episode"]["r"] == total == info["episode_return"] == -300
    assert info["episode"]["l"] == len(observations) - 1 == 25
    assert info["episode_number"] == 0


def test_frames_are_stacked() -> None:
    observations, _, _ = played_to_the_end(wrappers.FrameStackObservation(made(), 4))
    assert {observation.shape for observation in observations} == {(4, 84, 84, 3)}


def test_rewards_and_observations_are_transformed() -> None:
    env = wrappers.TransformReward(made(), lambda reward: reward / 100)
    _, total, _ = played_to_the_end(wrappers.GrayscaleObservation(env))
    assert total == pytest.approx(-3)


def test_a_time_limit_of_ones_own_truncates_too() -> None:
    observations, _, info = played_to_the_end(wrappers.TimeLimit(made(), 5))
    assert len(observations) == 6
    assert "timed_out" not in info


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_a_vector_plays_its_games_and_records_their_statistics(mode: str) -> None:
    envs = gymnasium.make_vec(BP, num_envs=2, vectorization_mode=mode, picture="fast", frame_skip=12)
    recorded = RecordVectorStatistics(envs)
    pictures, _ = recorded.reset(seed=5)
    assert pictures.shape == (2, 84, 84, 3)
    assert (pictures[0] != pictures[1]).any(), "a vector's games have seeds of their own"
    returns, lengths = np.zeros(2), np.zeros(2, int)
    done = np.zeros(2, bool)
    while not done.all():
        _, rewards, terminated, truncated, info = recorded.step(np.zeros(2, np.int64))
        returns += np.where(done, 0, rewards)
        lengths += ~done
        ended = terminated | truncated
        if (ended & ~done).any():
            np.testing.assert_array_equal(info["_episode"], ended)
            np.testing.assert_allclose(info["episode"]["r"][ended], returns[ended])
            np.testing.assert_array_equal(info["episode"]["l"][ended], lengths[ended])
            np.testing.assert_array_equal(info["timed_out"][ended], truncated[ended])
        done |= ended
    following, _, _, _, info = recorded.step(np.zeros(2, np.int64))
    np.testing.assert_array_equal(info["episode_number"], 1)
    assert following.any()
    recorded.close()
