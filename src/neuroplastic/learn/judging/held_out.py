"""What models said of rows that they had not seen, every row once, and what that shows: confusion, AUC, calibration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import confusion_matrix, roc_auc_score

Numbers = NDArray[np.float64]

# Rows are put into so many parts of equal size by how sure the model was.
PARTS = 10
# Fewer rows than this in a part would show chance.
LEAST_IN_A_PART = 10


def area_of(true: NDArray[Any], chances: Numbers, classes: Sequence[str]) -> float:
    """Mean over the classes of the area under the ROC curve of each against the others, of rows (N,) and their
    probabilities (N, K); 0.5, as by chance, where rows are all of one class."""
    areas = [
        float(roc_auc_score(true == label, chances[:, k]))
        for k, label in enumerate(classes)
        if 0 < (true == label).sum() < len(true)
    ]
    return fmean(areas) if areas else 0.5


class Part(NamedTuple):
    """Rows of which a model was about equally sure."""

    said: float
    """mean probability that it gave"""
    found: float
    """share of them that turned out so"""
    rows: int


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Predictions of each row by the model of the fold that had left it out."""

    true: NDArray[Any]
    """(N,)"""
    predicted: NDArray[Any]
    """(N,)"""
    classes: tuple[str, ...] = ()
    """none where the target is a number"""
    chances: Numbers | None = None
    """(N, K): probability of each class"""
    importance: Mapping[str, tuple[float, ...]] | None = None
    """by column, of each fold: how much the score falls if the column is shuffled among the rows left out"""

    @cached_property
    def confusion(self) -> NDArray[np.int64]:
        """How many rows of each class (rows) were taken for which (columns), (K, K)."""
        found: NDArray[np.int64] = confusion_matrix(
            self.true.astype(str), self.predicted.astype(str), labels=list(self.classes)
        )
        return found

    @cached_property
    def areas(self) -> tuple[float, ...]:
        """Area under the ROC curve of each class against the others; 0.5 is chance, 1 perfect."""
        if self.chances is None:
            return ()
        return tuple(
            float(roc_auc_score(self.true == label, self.chances[:, k]))
            for k, label in enumerate(self.classes)
        )

    @property
    def area(self) -> float | None:
        """The mean of the classes' areas; of two classes both are the same."""
        return fmean(self.areas) if self.areas else None

    @cached_property
    def calibration(self) -> tuple[Part, ...]:
        """Of two classes how often the second came, beside how likely it was said to be; of more, of the one predicted.

        Parts of equal size, from the least likely to the most.
        """
        if self.chances is None:
            return ()
        if len(self.classes) == 2:
            said, came = self.chances[:, 1], self.true == self.classes[1]
        else:
            said, came = self.chances.max(axis=1), self.true == self.predicted
        parts = max(1, min(PARTS, len(said) // LEAST_IN_A_PART))
        order = np.argsort(said, kind="stable")
        return tuple(
            Part(float(said[rows].mean()), float(came[rows].mean()), len(rows))
            for rows in np.array_split(order, parts)
        )

    @property
    def calibration_error(self) -> float:
        """Mean distance of what was said from what was found, over the rows."""
        rows = sum(part.rows for part in self.calibration)
        return sum(part.rows * abs(part.said - part.found) for part in self.calibration) / rows

    @property
    def ranked_importance(self) -> tuple[tuple[str, float, float], ...]:
        """Columns with mean and standard deviation of their importance over the folds, the greatest first."""
        found = [
            (name, fmean(folds), float(np.std(folds, ddof=1)) if len(folds) > 1 else 0.0)
            for name, folds in (self.importance or {}).items()
        ]
        return tuple(sorted(found, key=lambda one: -one[1]))
