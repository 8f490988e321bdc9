"""How many trials a figure needs before it says more than chance does."""

from __future__ import annotations

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
