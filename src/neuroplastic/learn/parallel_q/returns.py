"""Lambda-returns of a rollout."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float32]


def lambda_returns(
    rewards: Numbers, following: Numbers, ended: NDArray[np.bool_], *, discount: float, q_lambda: float
) -> Numbers:
    """Returns (T, G) of T decisions in G games, the lambda-weighted mean of all n-step returns, computed backwards.

    With the reward r_t, the value v_t of the observation that decision t led to, the discount g and lambda l,

        R_t = r_t + g * v_t                            where the episode ended by t, or t is the last decision,
        R_t = r_t + g * ((1 - l) * v_t + l * R_{t+1})  elsewhere.

    `following` holds v: the value of the best action there; 0 where nothing is to follow. So l = 0 gives one-step
    targets, and l = 1 the discounted rewards up to the end of the episode or of the rollout, and the value there.
    """
    returns = np.empty_like(rewards)
    ahead = following[-1]
    for t in reversed(range(len(rewards))):
        ahead = np.where(ended[t], following[t], following[t] + q_lambda * (ahead - following[t]))
        returns[t] = ahead = rewards[t] + discount * ahead
    return returns
