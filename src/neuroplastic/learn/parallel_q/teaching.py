"""What games advise as a second thing to learn from: the advised action is to be worth more than any other."""

from __future__ import annotations

import warnings

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


class NoAdviceWarning(UserWarning):
    """A learner is to be taught by games that give no advice, and so is not taught."""


def margin_loss(values: Tensor, advice: Tensor, margin: float) -> Tensor:
    """By how much action values (B, A) fall short of preferring the advised actions (B,) by the margin, on average.

    With the advised action e and the margin m, max(Q(s, e), max_{a != e} Q(s, a) + m) - Q(s, e), as in deep
    Q-learning from demonstrations (Hester et al. 2018, Eq. 2); 0 where there is no advice (below 0).
    """
    advised = advice.clamp(min=0)[:, None]
    worth = values.gather(1, advised)
    others = (values + margin).scatter(1, advised, worth)
    short = others.max(dim=1).values - worth.squeeze(1)
    return torch.where(advice >= 0, short, 0.0).mean()


def warn_unless_advised(advice: NDArray[np.int64], *, taught: float, followed: float) -> None:
    """Say so where advice (T, G) is to be learned from, or `followed` at random, and no game gave any."""
    given = {"taught": taught, "exploration_advised": followed}
    asked = [f"{name}={value:g}" for name, value in given.items() if value]
    if asked and not (advice >= 0).any():
        warnings.warn(
            f"{' and '.join(asked)}, but none of the games advised anything in the first rollout; this does nothing",
            NoAdviceWarning,
            stacklevel=3,
        )
