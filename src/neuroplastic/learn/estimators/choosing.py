"""How long rules are trained, and so how far they part from the linear start: chosen by cross-validation."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ...network.nfn import NeuroFuzzyNetwork
from .looks import OnLook
from .rows import Numbers, Rows
from .start import start_linear
from .training import Loss, Plan, Tensors, train

# Parts of the rows are left out in turn until so many have been looked at: more rows need fewer trainings, and
# smaller parts, a third at most and a tenth at least.
ENOUGH_LEFT_OUT, FEWEST_PARTS, MOST_PARTS = 200, 3, 10


def folds(rows: Rows, *, labels: bool, rng: np.random.RandomState) -> list[tuple[Rows, Rows]]:
    """Rows to train on and to look at, one to three times; classes in proportion.

    Of N rows a part of `1 / min(max(N // 200, 3), 10)` is left out, then another, until 200 rows were.
    """
    order = in_proportion(rows, labels=labels, rng=rng)
    parts, times = parts_and_times(len(rows))
    part = np.arange(len(rows)) % parts
    return [(rows.part(order[part != one]), rows.part(order[part == one])) for one in range(times)]


def parts_and_times(rows: int) -> tuple[int, int]:
    """Into how many parts so many rows are divided, and how many of the parts are left out in turn."""
    parts = min(max(rows // ENOUGH_LEFT_OUT, FEWEST_PARTS), MOST_PARTS)
    return parts, min(parts, math.ceil(ENOUGH_LEFT_OUT / (rows // parts)))


def in_proportion(rows: Rows, *, labels: bool, rng: np.random.RandomState) -> np.ndarray:
    """Row numbers in a random order, class after class: every n-th of them then has all classes in proportion."""
    order = rng.permutation(len(rows))
    return order[np.argsort(rows.y[order, 0], kind="stable")] if labels else order


def choose(
    net: NeuroFuzzyNetwork,
    rows: Rows,
    linear: Callable[[Rows], tuple[Numbers, Numbers]],
    loss: Loss,
    plan: Plan,
    *,
    labels: bool,
    rng: np.random.RandomState,
    on_look: OnLook,
) -> Plan:
    """The plan with that number of updates whose loss on rows left out is least.

    Parts of the rows are left out in turn, see `folds`. Sets and rules start as in `net`, which stays
    as it is, consequents from the linear solution of the rows kept. The first look is nearly that linear solution,
    so a table on which rules do not help is left nearly linear.
    """
    parts, curves = folds(rows, labels=labels, rng=rng), []
    for number, (kept, left_out) in enumerate(parts, 1):
        own = copy.deepcopy(net).float()
        start_linear(own, *linear(kept))
        history = train(
            own,
            Tensors(own, kept, labels=labels),
            Tensors(own, left_out, labels=labels),
            loss,
            replace(plan, batch_size=min(plan.batch_size, len(kept))),
            rng=rng,
            on_look=numbered(on_look, number, len(parts) + 1),
        )
        curves.append(history.held_out)
    curve = mean_curve(curves, [float(left_out.weight.sum()) for _, left_out in parts])
    return replace(plan, stop=min((int(curve.argmin()) + 1) * plan.check_every, plan.updates))


def numbered(on_look: OnLook, training: int, trainings: int) -> OnLook:
    """Tells of looks as those of one training among several."""
    return lambda look: on_look(replace(look, training=training, trainings=trainings))


def mean_curve(curves: Sequence[Sequence[float]], weights: Sequence[float]) -> Numbers:
    """Weighted mean of losses at each look; a training that stopped sooner counts on with its last loss."""
    looks = max(map(len, curves))
    padded = np.array([[*curve, *[curve[-1]] * (looks - len(curve))] for curve in curves])
    mean: Numbers = np.average(padded, axis=0, weights=weights)
    return mean
