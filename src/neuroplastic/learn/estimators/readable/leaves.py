"""Where readable rules start: the leaves of a small tree, each the conjunction of the intervals on its path.

A tree is built greedily and cuts sharply; it is a good first guess at which few columns a rule should ask for. Its
intervals become fuzzy sets that cross at .5 where the tree cuts, so that with the worst premise deciding the rule that
leads on a row is that of its leaf.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeRegressor

from ....network.starting import HALF
from ..rows import Numbers, Rows, quantiles
from .draft import ANY, Draft
from .limits import Limits

# A column is cut at most at so many places, between its quantiles: thresholds that rules share, none of them fancy.
CUTS = 15
# A leaf holds at least this share of the rows.
LEAST_SHARE = 0.01
# A path may be so much longer than a rule: it may ask for a column twice, and premises are shed later.
LONGER = 2
# The share of a class in a leaf is that of its rows and of so many rows of the whole table besides.
PRIOR = 0.5

# The codes of categories lie 1 apart.
HALF_CODE = 0.5
# A set reaches at least this share of a column's extent.
LEAST_REACH = 1e-3

Interval = tuple[float, float]


def first_rules(rows: Rows, limits: Limits, crisp: NDArray[np.bool_], *, shares: bool, seed: int) -> Draft:
    """The draft of a tree's leaves, of rows as the network sees them; `crisp` (D,) says which columns are codes.

    Targets (N, O) are numbers or shares of classes: the squared error of those is Gini's impurity.
    """
    cuts = [
        _cuts(column, rows.weight, crisp=bool(code)) for column, code in zip(rows.x.T, crisp, strict=True)
    ]
    places = np.stack(
        [np.searchsorted(edges, column, side="right") for edges, column in zip(cuts, rows.x.T, strict=True)],
        axis=1,
    ).astype(np.float64)
    # No tree has more leaves than rows, but scikit-learn would make room for as many as are allowed.
    tree = DecisionTreeRegressor(
        max_leaf_nodes=max(2, min(limits.leaves, len(rows))),
        max_depth=min(limits.premises, len(rows)) + LONGER,
        min_weight_fraction_leaf=LEAST_SHARE,
        random_state=seed,
    ).fit(places, rows.y, sample_weight=rows.weight)
    ends = np.stack([rows.x.min(axis=0), rows.x.max(axis=0)], axis=1)
    paths = _paths(tree.tree_, cuts)
    concluded = _concluded(rows, tree.apply(places), [leaf for leaf, _ in paths], shares=shares)
    return _draft([path for _, path in paths], concluded, ends, crisp)


def _cuts(values: Numbers, weight: Numbers, *, crisp: bool) -> Numbers:
    """Where a column may be cut: midway between neighbouring values, at quantiles where there are many."""
    found = np.unique(values)
    if len(found) < 2:
        return np.empty(0)
    if len(found) > CUTS + 1 and not crisp:
        at = quantiles(values, weight, np.arange(1, CUTS + 1) / (CUTS + 1))
        left = np.unique(np.searchsorted(found, at, side="right").clip(1, len(found) - 1))
    else:
        left = np.arange(1, len(found))
    middles: Numbers = (found[left - 1] + found[left]) / 2
    return middles


def _paths(tree: Any, cuts: list[Numbers]) -> list[tuple[int, dict[int, Interval]]]:
    """Each leaf with the interval that its path leaves to each column; infinite where nothing is cut off."""
    found: list[tuple[int, dict[int, Interval]]] = []

    def walk(node: int, path: dict[int, Interval]) -> None:
        if tree.children_left[node] < 0:
            found.append((node, path))
            return
        column = int(tree.feature[node])
        cut = float(cuts[column][int(np.floor(tree.threshold[node]))])
        low, high = path.get(column, (-np.inf, np.inf))
        walk(tree.children_left[node], {**path, column: (low, cut)})
        walk(tree.children_right[node], {**path, column: (cut, high)})

    walk(0, {})
    return found


def _concluded(rows: Rows, leaf_of: NDArray[Any], leaves: list[int], *, shares: bool) -> Numbers:
    """What each leaf concludes, (U, O): logarithms of class shares, less their mean, or mean targets."""
    overall = rows.weight @ rows.y / rows.weight.sum()
    found = []
    for leaf in leaves:
        weight = np.where(leaf_of == leaf, rows.weight, 0.0)
        if shares:
            share = weight @ rows.y + PRIOR * overall + 1 / (2 * len(overall))
            found.append(np.log(share) - np.log(share).mean())
        else:
            found.append(weight @ rows.y / weight.sum())
    return np.stack(found)


def _draft(
    paths: list[dict[int, Interval]], concluded: Numbers, ends: Numbers, crisp: NDArray[np.bool_]
) -> Draft:
    columns = len(ends)
    kinds = [sorted({path[column] for path in paths if column in path}) for column in range(columns)]
    terms = max(1, *(len(intervals) for intervals in kinds))
    centers, widths = np.zeros((columns, terms)), np.ones((columns, terms))
    premises = np.full((len(paths), columns), ANY, dtype=np.int64)
    for column, intervals in enumerate(kinds):
        for place, interval in enumerate(intervals):
            centers[column, place], widths[column, place] = _set(
                interval, ends[column], crisp=bool(crisp[column])
            )
            for rule, path in enumerate(paths):
                if path.get(column) == interval:
                    premises[rule, column] = place
    return Draft(centers, widths, crisp, premises, concluded)


def _set(interval: Interval, ends: Numbers, *, crisp: bool) -> tuple[float, float]:
    """Centre and width of the set of an interval: membership .5 where it is cut, 1 in the middle, or, where it is cut
    on one side alone, at the other end of the data. The codes of a category have no end to lie at."""
    low, high = interval
    first, last = float(ends[0]), float(ends[1])
    if crisp:
        low, high = max(low, first - HALF_CODE), min(high, last + HALF_CODE)
    if np.isfinite(low) and np.isfinite(high):
        center, reach = (low + high) / 2, (high - low) / 2
    elif np.isfinite(high):
        center, reach = first, high - first
    else:
        center, reach = last, last - low
    return center, max(reach, LEAST_REACH * max(last - first, LEAST_REACH)) / HALF
