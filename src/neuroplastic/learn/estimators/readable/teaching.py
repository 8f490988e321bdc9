"""Rules learn from teachers, and from rows made up between those of the table: few rules then follow what holds of
most rows of a place, and not the luck of single ones.

A forest and our own estimator without limits are more accurate than any few rules, and cannot be read; together they
give every row the share of each class. Rows made up between neighbours, whose shares they alone know, show what they
hold of places where the table has none.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import NearestNeighbors

from ..rows import Numbers, Rows

if TYPE_CHECKING:
    from ..base import NeuroFuzzyEstimator

# Trees of the forest.
TREES = 100
# The part of a row's target that the teachers say; and, of the weight of all rows, the part of those made up.
BELIEVED, MADE_UP = 0.85, 0.85
# So many rows are made up, each between a row and one of its nearest.
ROWS, NEAREST = 4000, 3
# A column of a made-up row is the neighbour's with this chance.
CROSSED = 0.5
# Where a column has more values than this, the neighbour's is moved by half the distance, at random.
FEW_VALUES = 16
# Unless they are asked for: fewer rows than this cannot teach anybody, more need no teachers, and of more classes than
# this nothing was tried that would speak for them.
FEWEST_ROWS, MOST_ROWS, MOST_CLASSES = 20, 20_000, 4


def taught(estimator: NeuroFuzzyEstimator, rows: Rows, codes: NDArray[np.bool_], seed: int) -> Rows:
    """Rows with the shares of the classes (N, O) as targets, and made-up ones behind them; the weight of all stays."""
    made = _made_up(rows, codes, np.random.RandomState(seed))
    x = np.concatenate([rows.x, made])
    shares = _shares(estimator, rows, x, seed)
    own = estimator._target_columns(rows.y)
    shares[: len(rows)] = BELIEVED * shares[: len(rows)] + (1 - BELIEVED) * own
    each = np.full(len(made), MADE_UP * rows.weight.sum() / len(made))
    return Rows(x, shares, np.concatenate([(1 - MADE_UP) * rows.weight, each]))


def _shares(estimator: NeuroFuzzyEstimator, rows: Rows, x: Numbers, seed: int) -> Numbers:
    """The shares of the classes in rows x (N, O), the mean of what two teachers say that learned from `rows`."""
    own_kind = type(estimator)(random_state=seed)
    labels = rows.y[:, 0].astype(np.int64)
    found = np.zeros((len(x), estimator._outputs()))
    teachers = (own_kind, RandomForestClassifier(TREES, random_state=seed))
    for teacher in teachers:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what there is to say of the columns is said once
            teacher.fit(rows.x, labels, sample_weight=rows.weight)
        found[:, teacher.classes_] += teacher.predict_proba(x) / len(teachers)
    return found


def _made_up(rows: Rows, codes: NDArray[np.bool_], chance: np.random.RandomState) -> Numbers:
    """Rows between neighbours (M, D): each column is a row's own or, moved a little, that of a near one."""
    scale = rows.x.std(axis=0)
    scaled = rows.x / np.where(scale > 0, scale, 1.0)
    first = chance.choice(len(rows), ROWS, p=rows.weight / rows.weight.sum())
    count = min(NEAREST + 1, len(rows))
    near = NearestNeighbors(n_neighbors=count).fit(scaled).kneighbors(scaled[first], return_distance=False)
    other = near[np.arange(ROWS), chance.randint(1, count, size=ROWS)]
    own, theirs = rows.x[first], rows.x[other]
    many = ~codes & np.array([len(np.unique(column)) > FEW_VALUES for column in rows.x.T])
    moved = theirs + many * np.abs(own - theirs) / 2 * chance.standard_normal(own.shape)
    made: Numbers = np.where(chance.random_sample(own.shape) < CROSSED, moved, own)
    return made
