"""How well a way of learning predicts rows of a table that it has not seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, balanced_accuracy_score, mean_absolute_error, r2_score
from sklearn.model_selection import KFold, StratifiedKFold

from ..errors import ConfigError
from .preparing import PreparedTable
from .progress import Headway, Listener, nobody

CLASSES = {"accuracy": accuracy_score, "balanced accuracy": balanced_accuracy_score}
NUMBERS = {"R²": r2_score, "mean absolute error": mean_absolute_error}
STAGE = "cross-validation"

FoldScores = Mapping[str, tuple[float, ...]]
"""The score of each fold, by the name of the measure."""


class Predicts(Protocol):
    """A fitted model of any kind."""

    def predict(self, x: Any) -> Any:
        """The prediction of each row."""


Measures = Mapping[str, Callable[[Any, Any], float]]

Learn = Callable[[pd.DataFrame, pd.Series, Listener], Predicts]
"""Learns from rows and their targets, and tells how far it is. Any model will do: a baseline has the same folds."""

Judge = Callable[[Any, NDArray[np.int64]], None]
"""Is handed the model of each fold, and the numbers of the rows that it has not seen."""


def no_judge(model: Any, rows: NDArray[np.int64]) -> None:
    """Does not look."""


def measures_of(table: PreparedTable) -> Measures:
    """The measures by name, the one that models are compared by first."""
    return CLASSES if table.columns.classes else NUMBERS


def cross_validate(
    table: PreparedTable,
    learn: Learn,
    *,
    folds: int = 5,
    seed: int = 0,
    judge: Judge = no_judge,
    on_progress: Listener = nobody,
) -> FoldScores:
    """Learn from all folds but one and score that one, in turn; fewer folds where there are too few rows."""
    columns, x, y = table.columns, table.x, table.y
    measures = measures_of(table)
    folds = possible_folds(table, folds)
    splitter = (StratifiedKFold if columns.classes else KFold)(folds, shuffle=True, random_state=seed)
    scores: dict[str, list[float]] = {name: [] for name in measures}
    for fold, (train, test) in enumerate(splitter.split(x, y)):

        def within(step: Headway, fold: int = fold) -> None:
            told, share = f"{step.stage} {step.done} of {step.total}", step.done / max(step.total, 1)
            on_progress(Headway(STAGE, fold, folds, "fold", told, share))

        model = learn(x.iloc[train], y.iloc[train], within)
        made = model.predict(x.iloc[test])
        judge(model, test)
        for name, measure in measures.items():
            scores[name].append(float(measure(y.iloc[test], made)))
        figures = ", ".join(f"{name} {found[-1]:.3f}" for name, found in scores.items())
        on_progress(Headway(STAGE, fold + 1, folds, "fold", figures))
    return {name: tuple(found) for name, found in scores.items()}


def possible_folds(table: PreparedTable, wanted: int) -> int:
    """As many folds as are wanted, or as the rows allow; a ConfigError where they do not even allow two."""
    target = table.columns.target
    if table.columns.classes:
        labels, counts = np.unique(table.y, return_counts=True)
        if counts.min() < 2:
            raise ConfigError(
                f"class {labels[counts.argmin()]!r} of {target!r} has only one row, so it cannot be "
                "cross-validated; merge or drop that class"
            )
        return min(wanted, int(counts.min()))
    rows = len(table.x)
    if rows < 4:  # of a single row R² says nothing
        raise ConfigError(
            f"a number needs at least 4 rows to be cross-validated, but {target!r} has {rows}; add rows"
        )
    return min(wanted, rows // 2)


def fold_notes(table: PreparedTable, wanted: int) -> tuple[str, ...]:
    """A sentence where there are fewer folds than are wanted: how many, and why."""
    folds = possible_folds(table, wanted)
    if folds == wanted:
        return ()
    few = "the rarest class has" if table.columns.classes else "there are"
    rows = folds if table.columns.classes else len(table.x)
    return (f"Cross-validation has {folds} folds, not {wanted}, for {few} only {rows} rows.",)
