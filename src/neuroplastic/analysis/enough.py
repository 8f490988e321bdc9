"""How many trials a figure needs before it says more than chance does."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

from ..errors import at_least, at_most
from .errors import TooFewError
from .study_table import StudyTable

TO_CHOOSE = 29
"""The best of so many random trials is among the best tenth of the space with a probability of .95: .9^29 < .05."""
TO_WEIGH = 50
"""The best tenth of fewer trials is fewer than five of them, which tell nothing of a hyperparameter."""


def need_trials(table: StudyTable, least: int, what: str) -> None:
    """Raise a TooFewError where a study has fewer finished trials than a figure needs."""
    found = len(table.finished)
    if found < least:
        raise TooFewError(
            f"{what} need at least {least} finished trials to mean something, {table.name} has {found}"
        )


def expected_best(means: Sequence[float], trials: int) -> float:
    """The greatest mean of so many of these trials, averaged over all choices of them: exact, and without drawing.

    The i-th least of N means is the greatest of C(i - 1, n - 1) choices of n. How it grows with n tells what further
    trials may bring.
    """
    at_most("trials", at_least("trials", trials, 1), len(means))
    choices = comb(len(means), trials)
    # Whole numbers of hundreds of digits divide exactly; their products with floats would overflow.
    return sum(mean * (comb(less, trials - 1) / choices) for less, mean in enumerate(sorted(means)))
