"""Which trials end early: those that lag behind half of the finished ones."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

FEWEST = 5
"""Finished trials that came as far as a trial which is to be judged by them."""
FIRST = 2
"""The first epoch after which a trial is judged: before, hardly anything was learned."""

Means = Sequence[float]
"""One of each epoch."""


def lags(means: Means, finished: Sequence[Means], *, planned: int) -> bool:
    """Whether the greatest mean so far is below the median of what finished trials had after as many epochs.

    Trials are judged after each epoch from the second to half of those planned, and what has come further may go on:
    late in a trial little is left to be saved. Those that ended early count as far as they came.
    """
    epochs = len(means)
    if not FIRST <= epochs <= planned / 2:
        return False
    others = [max(trial[:epochs]) for trial in finished if len(trial) >= epochs]
    return len(others) >= FEWEST and max(means) < statistics.median(others)
