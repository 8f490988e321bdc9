"""What the models of the folds say of the rows they have not seen, gathered while they are there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..learn.judging.held_out import HeldOut, area_of
from .cross_validation import measures_of
from .preparing import PreparedTable

# Rows of a fold that columns are shuffled among, and shuffled values of a fold, at most: more would only take longer.
MOST_ROWS, MOST_VALUES = 2000, 400_000
# A column is shuffled so often where there are few rows: by one shuffle little would change.
MOST_SHUFFLES = 5
ROWS_WANTED = 500


class FoldAreas:
    """Is handed each fold's model and its rows; `found` are the areas under the ROC curve, none of numbers."""

    def __init__(self, table: PreparedTable) -> None:
        self._table = table
        self.found: list[float] = []

    def __call__(self, model: Any, rows: NDArray[np.int64]) -> None:
        """Take how well the model ranks rows that it has not seen."""
        if self._table.columns.classes:
            true = self._table.y.iloc[rows].to_numpy().astype(str)
            chances = model.predict_proba(self._table.x.iloc[rows])
            self.found.append(area_of(true, chances, [str(label) for label in model.classes_]))


class HeldOutRows:
    """Is handed each fold's model and its rows; `result` is what all of them said."""

    def __init__(self, table: PreparedTable, *, seed: int = 0) -> None:
        self._table = table
        self._rng = np.random.default_rng(seed)
        classes = tuple(sorted(set(map(str, table.y)))) if table.columns.classes else ()
        self._classes = classes
        self._predicted: NDArray[Any] = np.empty(len(table.y), dtype=object if classes else np.float64)
        self._chances = np.zeros((len(table.y), len(classes))) if classes else None
        self._areas = FoldAreas(table)
        self._importance: dict[str, list[float]] = {str(name): [] for name in table.x.columns}

    def __call__(self, model: Any, rows: NDArray[np.int64]) -> None:
        """Take what the model says of rows that it has not seen."""
        x = self._table.x.iloc[rows]
        self._areas(model, rows)
        self._predicted[rows] = model.predict(x)
        if self._chances is not None:
            places = np.array([self._classes.index(str(label)) for label in model.classes_])
            self._chances[np.ix_(rows, places)] = model.predict_proba(x)
        columns = len(self._importance)
        few = self._rng.permutation(rows)[: max(50, min(MOST_ROWS, MOST_VALUES // columns))]
        for name, fall in self._falls(model, few).items():
            self._importance[name].append(fall)

    def _falls(self, model: Any, rows: NDArray[np.int64]) -> dict[str, float]:
        """How much the score falls as each column is shuffled among the rows."""
        x, y = self._table.x.iloc[rows], self._table.y.iloc[rows]
        measure = next(iter(measures_of(self._table).values()))
        whole = float(measure(y, model.predict(x)))
        times = int(np.clip(ROWS_WANTED // len(rows), 1, MOST_SHUFFLES))
        found = {}
        for place, name in enumerate(x.columns):
            scores = [
                float(measure(y, model.predict(_shuffled(x, place, self._rng.permutation(len(x))))))
                for _ in range(times if x.iloc[:, place].nunique() > 1 else 0)
            ]
            found[str(name)] = whole - float(np.mean(scores)) if scores else 0.0
        return found

    @property
    def areas(self) -> tuple[float, ...]:
        """The area under the ROC curve of each fold; none of numbers."""
        return tuple(self._areas.found)

    @property
    def result(self) -> HeldOut:
        """The predictions of all rows."""
        true = self._table.y.to_numpy()
        importance = {name: tuple(falls) for name, falls in self._importance.items()}
        return HeldOut(true, self._predicted, self._classes, self._chances, importance)


def _shuffled(x: pd.DataFrame, place: int, order: NDArray[np.int64]) -> pd.DataFrame:
    made = x.copy()
    name = x.columns[place]
    made[name] = x[name].array.take(order)
    return made
