"""Decisions of the rules and their firing-weighted sum (steps 7 and 8)."""

from __future__ import annotations

import math

from torch import Tensor

from .tracing import may_look

# With at most this share of rules that fire, only their consequents are computed: of one observation, and for any of a
# batch, where fewer products have to pay for picking their weights (measured on a CPU).
SPARSE_AT_MOST = 0.25
SPARSE_BATCH = 0.5


def affine(x: Tensor, firing: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """First order: `y[b,o] = sum_u f[b,u] (W[u,o] . x[b] + bias[u,o])` with weight (U, O, D), bias (U, O)."""
    if may_look(firing):
        # Rules that do not fire add exactly nothing, and receive no gradient. NaN counts as firing.
        firing_rules = firing.detach().any(dim=0).nonzero().squeeze(1)
        if x.shape[0] == 1 and len(firing_rules) <= SPARSE_AT_MOST * len(weight):
            share = firing.index_select(1, firing_rules)
            decisions = (weight.index_select(0, firing_rules) @ x[0]).unsqueeze(0)
            return (decisions * share.unsqueeze(2)).sum(dim=1) + share @ bias.index_select(0, firing_rules)
        if len(firing_rules) <= SPARSE_BATCH * len(weight) and _finite(weight, bias):
            firing = firing.index_select(1, firing_rules)
            weight, bias = weight.index_select(0, firing_rules), bias.index_select(0, firing_rules)
    rules, outputs, width = weight.shape
    decisions = (x @ weight.reshape(rules * outputs, width).t()).view(len(x), rules, outputs)
    return (decisions * firing.unsqueeze(2)).sum(dim=1) + firing @ bias


def _finite(*parameters: Tensor) -> bool:
    """Whether no number is lost: NaN in a rule that does not fire has to reach every observation all the same."""
    return all(math.isfinite(float(parameter.detach().sum())) for parameter in parameters)


def constant(firing: Tensor, bias: Tensor) -> Tensor:
    """Zero order: `y = f @ bias` with bias (U, O)."""
    return firing @ bias


def defuzzified(firing: Tensor, moment: Tensor, area: Tensor | None) -> Tensor:
    """Mamdani output from each rule's chosen output set, (U, O).

    Height method (`area` None): `moment` holds the centres, and the output is their firing-weighted mean.
    Centre of area (product implication, sum aggregation): `moment` is area times centre, and the output is the
    ratio of the firing-weighted sums. The area of a Gaussian set is proportional to its width.
    """
    if area is None:
        return firing @ moment
    return (firing @ moment) / (firing @ area)
