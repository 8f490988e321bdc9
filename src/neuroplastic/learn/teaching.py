"""What games advise as a second thing to learn from: the advised action is to be worth more than any other."""

from __future__ import annotations

import warnings
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..errors import within

NO_ADVICE = -1
"""In place of an action that is advised: the game does not say."""
MOST_WEIGHT = 1e6
"""Of one thing beside another: beyond it single precision keeps nothing of the other."""

HELP = {
    "exploration_advised": "share of the random actions that the game advises instead, where it does",
    "taught": "weight at first of preferring what the game advises; 0: not taught",
    "taught_share": "share of the run over which that weight falls in a line to 0",
    "taught_margin": "by how much the advised action is to be worth more, in scaled rewards",
}
"""The options of a learner that can be taught, each with what it means."""


class Taught(Protocol):
    """The configuration of a learner that can be taught."""

    @property
    def exploration_advised(self) -> float: ...  # noqa: D102

    @property
    def taught(self) -> float: ...  # noqa: D102

    @property
    def taught_share(self) -> float: ...  # noqa: D102

    @property
    def taught_margin(self) -> float: ...  # noqa: D102


class NoAdviceWarning(UserWarning):
    """A learner is to be taught by games that give no advice, and so is not taught."""


def check_teaching(config: Taught) -> None:
    """Raise unless the options of teaching are what they can be."""
    for name in ("exploration_advised", "taught_share"):
        within(name, getattr(config, name), 0, 1)
    for name in ("taught", "taught_margin"):
        within(name, getattr(config, name), 0, MOST_WEIGHT)


def teaching_weight(config: Taught, steps: int, total_steps: int) -> float:
    """The weight of what games advise after so many of all decisions."""
    falls_over = config.taught_share * total_steps
    return config.taught * (1 - steps / falls_over) if steps < falls_over else 0.0


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


def mirrored_advice(advice: Tensor, turn: Tensor, actions: Tensor) -> Tensor:
    """The advice (B,), that of `turn` (B,) seen in a mirror, where action a becomes `actions[a]`."""
    return torch.where(turn & (advice >= 0), actions[advice.clamp(min=0)], advice)


def warn_unless_advised(advice: NDArray[np.int64], config: Taught, when: str) -> None:
    """Say so where advice is to be learned from, or followed at random, and no game gave any in a time named."""
    given = {"taught": config.taught, "exploration_advised": config.exploration_advised}
    asked = [f"{name}={value:g}" for name, value in given.items() if value]
    if asked and not (advice >= 0).any():
        warnings.warn(
            f"{' and '.join(asked)}, but none of the games advised anything in {when}; this does nothing",
            NoAdviceWarning,
            stacklevel=3,
        )
