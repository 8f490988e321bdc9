"""Where learning starts: fuzzy sets at quantiles, rules at clusters, consequents at the linear solution."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge

from ...fuzzy.membership import raw_from_widths
from ...network.nfn import NeuroFuzzyNetwork
from ...network.starting import CROSSING
from .rows import Numbers, Rows, quantiles

# Sets of a column never start narrower than this share of its deviation.
LEAST_SPACING = 0.1
# Which part of the rules shares a decision at the start (their number is one over the sum of squared firing levels):
# so much for each column, up to the most. In one or two columns only near rules have something to say.
SHARING, MOST_SHARING = 0.2, 0.6
# Logits start as the nearness of a set to the rule's cluster, plus noise of this deviation that breaks ties.
TIE_BREAK = 0.01
# So many rows are enough to find clusters in: of a million, that took twice the time of the training itself.
ENOUGH_TO_CLUSTER = 50_000
# A category is asked for by a set so narrow that the next one, at a distance of 1, does not fit at all.
CRISP_WIDTH = 0.15


Sets = tuple[Numbers, Numbers]
"""Centres and widths of sets of one column, as the network sees it."""


def first_terms(rules: int, columns: int) -> int:
    """Sets per column: 5, and more where few columns could not tell `rules` rules apart, `2 rules**(1/columns)`."""
    wanted = math.ceil(2 * math.pow(rules, 1 / columns))
    return max(5, min(2 * rules, wanted, 16))


def crisp_sets(categories: Mapping[int, tuple[str, ...]], offset: Numbers, scale: Numbers) -> dict[int, Sets]:
    """For each column of codes one narrow set per category, in the units that the network sees."""
    return {
        column: (
            (np.arange(len(names)) - offset[column]) / scale[column],
            np.full(len(names), CRISP_WIDTH / scale[column]),
        )
        for column, names in categories.items()
    }


def place_first_sets(
    net: NeuroFuzzyNetwork, rows: Rows, terms: int, unasked: NDArray[np.bool_], crisp: Mapping[int, Sets]
) -> None:
    """Put up to `terms` sets per column at its quantiles, or one at each value where it has no more values.

    Widths are such that a set crosses its farther neighbour at membership 0.5. Columns that rules do not ask for, and
    what is left of those with crisp sets, are filled with "any": so no set is born there.
    """
    centers = np.zeros(tuple(net.centers.shape))
    widths = np.ones_like(centers)
    mask = np.zeros(centers.shape, dtype=bool)
    levels = (np.arange(terms) + 0.5) / terms
    for column, values in enumerate(rows.x.T):
        if unasked[column] or column in crisp:
            found, width = crisp.get(column, (np.zeros(0), np.zeros(0)))
            widths[column], mask[column] = math.inf, True
        else:
            found = _first_centers(values, rows.weight, levels)
            gaps = np.diff(found)
            spacing = (
                np.maximum(np.append(gaps, 0.0), np.insert(gaps, 0, 0.0)) if len(found) > 1 else np.ones(1)
            )
            width = np.maximum(spacing, LEAST_SPACING) / CROSSING
        count = len(found)
        centers[column, :count], widths[column, :count], mask[column, :count] = found, width, True
    net.place_sets(*(torch.from_numpy(part) for part in (centers, widths, mask)))


def _first_centers(values: Numbers, weight: Numbers, levels: Numbers) -> Numbers:
    found = np.unique(values)
    if len(found) > len(levels):
        found = np.unique(quantiles(values, weight, levels))
        if len(found) == 1 and len(levels) > 1:  # nearly all values are equal; the others lie to the sides
            found = np.unique([values.min(), found[0], values.max()])[: len(levels)]
    return found


def place_first_rules(
    net: NeuroFuzzyNetwork, rows: Rows, seed: int, unasked: NDArray[np.bool_], crisp: Mapping[int, Sets]
) -> None:
    """Let each rule choose the sets nearest to the middle of a cluster of rows; too few rows share clusters out.

    Clusters of what rules ask for: two that differ by a category alone would be one rule twice. Where rules ask for
    categories alone, clusters are found in their one-hot columns, and a rule asks for a cluster's most frequent ones.
    """
    if len(rows) > ENOUGH_TO_CLUSTER:
        order = np.random.RandomState(seed).permutation(len(rows))
        rows = rows.part(order[:ENOUGH_TO_CLUSTER])
    clusters = KMeans(min(net.rules, len(rows)), n_init=1, random_state=seed)
    codes = np.isin(np.arange(rows.x.shape[1]), list(crisp))
    by_mode = bool(unasked.any() and codes.any())
    near = ~codes if by_mode else ~unasked
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct inputs than clusters
        clusters.fit(rows.x[:, near], sample_weight=rows.weight)
    found = np.zeros((clusters.n_clusters, rows.x.shape[1]))
    found[:, near] = clusters.cluster_centers_
    for column in np.flatnonzero(codes) if by_mode else ():
        for cluster in range(clusters.n_clusters):
            found[cluster, column] = _mode(rows, int(column), clusters.labels_ == cluster)
    middles = np.resize(found, (net.rules, rows.x.shape[1]))
    with torch.no_grad():
        away = net.centers.t().unsqueeze(2) - torch.from_numpy(middles.T).to(net.centers)
        nearness = torch.exp(-0.5 * away.square())
        nearness[net.antecedent.any_mask.t()] = 0
        net.logits.copy_(nearness + TIE_BREAK * torch.randn_like(nearness))


def _mode(rows: Rows, column: int, some: NDArray[np.bool_]) -> float:
    """The most frequent value of a column in some of the rows, or in all where there are none."""
    some = some if some.any() else np.ones_like(some)
    values, place = np.unique(rows.x[some, column], return_inverse=True)
    return float(values[np.bincount(place, rows.weight[some]).argmax()])


@torch.no_grad()
def sharpen(net: NeuroFuzzyNetwork, rows: Rows, asked: int) -> None:
    """Set the gain of the layer norm so that up to six in ten rules share the decision of a row, by bisection.

    Standardised log-firings say nothing about how far apart rules are: in few columns rules would be too blurred.
    Without a layer norm the widths are set, all by one factor: in many columns rules would be too sharp. Rules ask
    for `asked` of the columns.
    """
    x = torch.from_numpy(rows.x[:: max(1, len(rows) // 1000)]).to(net.centers)
    least, most = (0.25, 16.0) if net.kappa is not None else (1e-4, 16.0)
    widths, ignored = net.widths.detach().clone(), net.antecedent.any_mask
    sharing = min(SHARING * asked, MOST_SHARING) * net.rules
    for _ in range(8 if net.kappa is not None else 16):
        middle = (least * most) ** 0.5
        if net.kappa is not None:
            net.kappa.fill_(middle)
        else:
            changed = torch.where(ignored, widths, widths / middle**0.5)
            net.antecedent.raw_widths.copy_(raw_from_widths(changed))
        if float((1 / net.firing(x).square().sum(dim=1)).mean()) > sharing:
            least = middle
        else:
            most = middle


def start_linear(net: NeuroFuzzyNetwork, weight: Numbers, bias: Numbers) -> None:
    """Give every rule the same affine function, (O, D) and (O,)."""
    with torch.no_grad():
        net.weight.copy_(torch.from_numpy(weight).to(net.weight))
        net.bias.copy_(torch.from_numpy(bias).to(net.bias))


def logistic_solution(rows: Rows, classes: int, strength: float) -> tuple[Numbers, Numbers]:
    """Weights (K, D) and biases (K,) of a regularised logistic regression; zeros for a class without rows."""
    weight, bias = np.zeros((classes, rows.x.shape[1])), np.zeros(classes)
    labels = rows.y[:, 0].astype(np.int64)
    present = np.unique(labels)
    if len(present) < 2:
        bias[present] = 1.0
        return weight, bias
    model: Any = LogisticRegression(C=1 / strength, max_iter=60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a start need not be the end
        model.fit(rows.x, labels, sample_weight=rows.weight)
    if len(present) == 2:
        weight[present] = np.concatenate([-model.coef_, model.coef_]) / 2
        bias[present] = np.append(-model.intercept_, model.intercept_) / 2
    else:
        weight[present], bias[present] = model.coef_, model.intercept_
    return weight, bias


def ridge_solution(rows: Rows, strength: float) -> tuple[Numbers, Numbers]:
    """Weights (O, D) and biases (O,) of a ridge regression."""
    model: Any = Ridge(alpha=strength).fit(rows.x, rows.y, sample_weight=rows.weight)
    return np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)
