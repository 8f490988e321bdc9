"""Plain models on the same folds as the rules: is it worth learning rules at all?"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from threadpoolctl import threadpool_limits

from ..errors import ColumnWarning
from ..learn.estimators.deciding import decide
from ..learn.estimators.encoding import Encoder
from ..learn.judging.comparison import Comparison, Contender, Kind
from .cross_validation import FoldScores, cross_validate
from .held_out import FoldAreas
from .preparing import PreparedTable
from .progress import Headway, Listener, nobody

LEAVES = 8
STAGE = "baselines"
AREA = "ROC AUC"
# Classes are uneven where the most common one has more than so many times its share of the rows: of two, 70 %.
UNEVEN = 1.4
# Below so many numbers a second thread waits longer than it works.
FEW_NUMBERS = 1_000_000


@dataclass(frozen=True)
class _Plain:
    """A plain model by name."""

    name: str
    kind: Kind
    make: Callable[[int], Any]
    """of a seed"""


_CLASSES = (
    _Plain("the most common class", "constant", lambda seed: DummyClassifier()),
    _Plain(
        "logistic regression",
        "linear",
        lambda seed: make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    ),
    _Plain(
        f"tree of {LEAVES} leaves",
        "tree",
        lambda seed: DecisionTreeClassifier(max_leaf_nodes=LEAVES, random_state=seed),
    ),
    _Plain("gradient boosting", "boosting", lambda seed: HistGradientBoostingClassifier(random_state=seed)),
)
_NUMBERS = (
    _Plain("the mean", "constant", lambda seed: DummyRegressor()),
    _Plain("ridge regression", "linear", lambda seed: make_pipeline(StandardScaler(), Ridge())),
    _Plain(
        f"tree of {LEAVES} leaves",
        "tree",
        lambda seed: DecisionTreeRegressor(max_leaf_nodes=LEAVES, random_state=seed),
    ),
    _Plain("gradient boosting", "boosting", lambda seed: HistGradientBoostingRegressor(random_state=seed)),
)


def compare_baselines(
    table: PreparedTable,
    scores: FoldScores,
    *,
    areas: tuple[float, ...] = (),
    folds: int = 5,
    seed: int = 0,
    are_short: bool = False,
    on_progress: Listener = nobody,
) -> Comparison:
    """Score plain models on the folds that `scores` of the rules are from: the same `folds` and `seed`.

    Where classes are uneven, what always names the most common one is accurate: then models are compared by balanced
    accuracy, too, and by the area under the ROC curve, if the rules' `areas` of the folds are given.
    """
    plain = _CLASSES if table.columns.classes else _NUMBERS
    ours = {**scores, **({AREA: areas} if areas else {})}
    found = []
    for done, one in enumerate(plain):
        on_progress(Headway(STAGE, done, len(plain), "model", one.name))
        found.append(_scores(table, one, folds, seed))
    on_progress(Headway(STAGE, len(plain), len(plain), "model"))
    first, *more = [
        Comparison(
            measure,
            Contender("these rules", "rules", ours[measure]),
            tuple(Contender(one.name, one.kind, its[measure]) for one, its in zip(plain, found, strict=True)),
            _always(table),
            are_short=are_short,
        )
        for measure in (ours if is_uneven(table) else [next(iter(ours))])
    ]
    return replace(first, others=tuple(more))


def is_uneven(table: PreparedTable) -> bool:
    """Whether one class has so many of the rows that accuracy says little."""
    if not table.columns.classes:
        return False
    shares = table.y.value_counts(normalize=True)
    return bool(shares.iloc[0] > UNEVEN / len(shares))


def _scores(table: PreparedTable, one: _Plain, folds: int, seed: int) -> Mapping[str, tuple[float, ...]]:
    def learn(x: pd.DataFrame, y: pd.Series, told: Listener) -> _OnNumbers:
        return _OnNumbers(one.make(seed), x, y)

    threads = 1 if table.x.size < FEW_NUMBERS else None
    with warnings.catch_warnings(), threadpool_limits(threads):
        warnings.simplefilter("ignore", ColumnWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        areas = FoldAreas(table)
        scores = cross_validate(table, learn, folds=folds, seed=seed, judge=areas)
        return {**scores, AREA: tuple(areas.found)}


class _OnNumbers:
    """A model of numbers, given a table as ours reads it: categories one-hot, dates as days, missing values filled."""

    def __init__(self, model: Any, x: pd.DataFrame, y: pd.Series) -> None:
        self._encoder = Encoder(decide(x, list(x.columns), np.ones(len(x))))
        self._model = model.fit(self._encoder.one_hot(x), y.to_numpy())

    @property
    def classes_(self) -> Any:
        return self._model.classes_

    def predict(self, x: pd.DataFrame) -> Any:
        return self._model.predict(self._encoder.one_hot(x))

    def predict_proba(self, x: pd.DataFrame) -> Any:
        return self._model.predict_proba(self._encoder.one_hot(x))


def _always(table: PreparedTable) -> str:
    if not table.columns.classes:
        return f"the mean ({table.y.mean():.4g})"
    return repr(str(table.y.value_counts().index[0]))
