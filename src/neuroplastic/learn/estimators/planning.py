"""How long a fit trains, by the rows there are, and which of them say when to stop."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from .choosing import in_proportion
from .rows import Rows
from .training import Plan

if TYPE_CHECKING:
    from .base import NeuroFuzzyEstimator

# Fewer rows than this say nothing about how long to train.
LEAST_ROWS_TO_CHOOSE = 60
# Updates: as many as rows, from the fewest to many; of more rows so many passes, up to the most.
FEWEST, MANY, PASSES, MOST = 300, 600, 100, 1500
# Of very many rows the most would not even be so many passes: then it is these, up to the most of all.
LEAST_PASSES, MOST_OF_ALL = 15, 24_000
# So many looks at a training that is that long, none sooner than twenty updates after another.
LOOKS = 75
# Of so many rows a part can be spared that says when to stop, at most so large; of fewer, cross-validation says it.
MANY_ROWS, MOST_HELD_OUT = 50_000, 20_000


def plan_of(estimator: NeuroFuzzyEstimator, rows: int, silent: tuple[int, ...] = ()) -> Plan:
    """Updates, batches and looks for so many rows, with what the user set."""
    batch = min(int(estimator.batch_size), rows)
    a_pass = math.ceil(rows / batch)
    most = max(MOST, min(LEAST_PASSES * a_pass, MOST_OF_ALL))
    updates = max(min(max(rows, FEWEST), MANY), min(PASSES * a_pass, most))
    if estimator.max_updates is not None:
        updates = int(estimator.max_updates)
    return Plan(
        updates=updates,
        batch_size=batch,
        learning_rate=estimator.learning_rate,
        ridge=estimator.ridge,
        shrinkage=estimator.shrinkage,
        check_every=max(Plan.check_every, updates // LOOKS),
        patience=int(estimator.patience),
        silent=silent,
    )


def is_to_choose(estimator: NeuroFuzzyEstimator, rows: Rows) -> bool:
    """Whether cross-validation is to say how long to train."""
    return estimator.early_stopping == "auto" and LEAST_ROWS_TO_CHOOSE <= len(rows) < MANY_ROWS


def hold_out(
    estimator: NeuroFuzzyEstimator, rows: Rows, rng: np.random.RandomState
) -> tuple[Rows, Rows | None]:
    """Rows to train on, and rows to hold out where that is asked for; classes are held out in proportion."""
    asked = len(rows) >= MANY_ROWS if estimator.early_stopping == "auto" else estimator.early_stopping
    if not asked or len(rows) < 2:
        return rows, None
    order = in_proportion(rows, labels=estimator._labels, rng=rng)
    every = max(2, round(1 / estimator.validation_fraction), len(rows) // MOST_HELD_OUT)
    held_out = np.arange(len(rows)) % every == every - 1
    return rows.part(order[~held_out]), rows.part(order[held_out])
