"""The three figures of a trial, and the paper's rule for choosing the best by them. Needs neither game nor storage."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

T = TypeVar("T")


class Figures(NamedTuple):
    """What a trial is judged by."""

    number: int
    """of the trial"""
    mean: float
    sd: float
    slope: float
    episodes: int
    """whose returns mean and SD are of; 0 if that is unknown"""
    pruned: bool = False
    """whether it ended early, for it lagged"""

    @property
    def near_tie(self) -> float:
        """How far below this mean, if it is the greatest, another is "too similar", which the paper leaves open.

        One standard error of the mean, SD / sqrt(episodes): a difference that a repetition of its own evaluation
        might show. With an SD of 0, or where the episodes are unknown, only an equal mean is a tie.
        """
        return self.sd / math.sqrt(self.episodes) if self.episodes else 0.0


def slope_of(means: Sequence[float]) -> float:
    """Least-squares slope of epochs' means over the epochs; 0 for one epoch.

    Equal means have a slope of 0, and not nearly, as the fit has it: the sign decides between trials.
    """
    if len(set(means)) == 1:
        return 0.0
    return float(np.polyfit(range(len(means)), means, 1)[0])


def whole(trials: Sequence[T], of: Callable[[T], Figures]) -> Sequence[T]:
    """Those that ran to their end, if any did: what ended early has SD and slope of fewer epochs.

    `of` tells the figures of a trial.
    """
    return [trial for trial in trials if not of(trial).pruned] or trials


def near_ties(trials: Sequence[T], of: Callable[[T], Figures]) -> list[T]:
    """The trials whose mean is the greatest or too similar to it, the greatest first; at least one must be given.

    Only those that ran to their end count, if any did.
    """
    ordered = sorted(whole(trials, of), key=lambda trial: (-of(trial).mean, of(trial).number))
    greatest = of(ordered[0])
    return [trial for trial in ordered if of(trial).mean >= greatest.mean - greatest.near_tie]


def best(trials: Sequence[T], of: Callable[[T], Figures]) -> T:
    """The trial of the greatest mean. Among near ties those with slope above 0 come first, then the least SD.

    If no near tie rises, all are considered; what is still equal goes to the greater mean, then the earlier trial.
    """
    tied = near_ties(trials, of)
    rising = [trial for trial in tied if of(trial).slope > 0] or tied
    return min(rising, key=lambda trial: (of(trial).sd, -of(trial).mean, of(trial).number))
