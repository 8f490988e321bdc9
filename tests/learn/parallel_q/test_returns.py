import numpy as np
import pytest

from neuroplastic.learn.parallel_q.returns import lambda_returns


def n_step_return(rewards, following, ended, t, n, discount):
    """The first n rewards from t on, discounted, and the value of what they led to."""
    total = sum(discount**k * rewards[t + k] for k in range(n))
    return total + discount**n * following[t + n - 1]


def by_definition(rewards, following, ended, discount, q_lambda):
    """The lambda-returns of one game: n-step returns weighted by (1 - l) l^(n-1), the longest by the rest.

    The longest ends with the episode, or with the rollout.
    """
    returns = np.empty(len(rewards))
    for t in range(len(rewards)):
        ends = [k for k in range(t, len(rewards)) if ended[k]]
        longest = (ends[0] if ends else len(rewards) - 1) - t + 1
        all_n = [n_step_return(rewards, following, ended, t, n + 1, discount) for n in range(longest)]
        weights = [(1 - q_lambda) * q_lambda**n for n in range(longest - 1)] + [q_lambda ** (longest - 1)]
        assert sum(weights) == pytest.approx(1)
        returns[t] = sum(weight * value for weight, value in zip(weights, all_n, strict=True))
    return returns


def random_rollout(rng, decisions, games, end_share=0.2):
    """Rewards, values of what is reached and ends, half of them for good (nothing follows), half cut short."""
    rewards, following = rng.normal(size=(2, decisions, games))
    ended = rng.random((decisions, games)) < end_share
    following[ended & (rng.random((decisions, games)) < 0.5)] = 0.0
    return rewards, following, ended


@pytest.mark.parametrize("decisions", [1, 2, 5, 40])
@pytest.mark.parametrize("discount", [0.0, 0.9, 1.0])
@pytest.mark.parametrize("q_lambda", [0.0, 0.3, 0.65, 1.0])
def test_returns_are_the_weighted_mean_of_all_n_step_returns(decisions, discount, q_lambda):
    rng = np.random.default_rng(decisions)
    for end_share in (0.0, 0.2, 1.0):
        rewards, following, ended = random_rollout(rng, decisions, 7, end_share)
        got = lambda_returns(rewards, following, ended, discount=discount, q_lambda=q_lambda)
        for game in range(7):
            expected = by_definition(rewards[:, game], following[:, game], ended[:, game], discount, q_lambda)
            np.testing.assert_allclose(got[:, game], expected, rtol=1e-12, atol=1e-12)


def test_returns_of_single_precision_stay_so_and_near():
    rollout = random_rollout(np.random.default_rng(0), 32, 32)
    rewards, following = (array.astype(np.float32) for array in rollout[:2])
    exact = lambda_returns(*rollout, discount=0.99, q_lambda=0.65)
    got = lambda_returns(rewards, following, rollout[2], discount=0.99, q_lambda=0.65)
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, exact, rtol=1e-4, atol=1e-5)


def test_nothing_of_an_episode_reaches_the_one_before():
    rewards, following, ended = random_rollout(np.random.default_rng(1), 10, 3)
    ended[4] = True
    others = [array.copy() for array in (rewards, following, ended)]
    for array, new in zip(others, random_rollout(np.random.default_rng(2), 10, 3), strict=True):
        array[5:] = new[5:]
    first, second = (
        lambda_returns(*rollout, discount=0.9, q_lambda=0.8)
        for rollout in ((rewards, following, ended), others)
    )
    assert np.array_equal(first[:5], second[:5])
