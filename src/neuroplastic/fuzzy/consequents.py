"""Decisions of the rules and their firing-weighted sum (steps 7 and 8)."""

from __future__ import annotations

from torch import Tensor

from .tracing import may_look

# With at most this many firing rules and a single observation, only their consequents are computed.
SPARSE_AT_MOST = 0.25


def affine(x: Tensor, firing: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """First order: `y[b,o] = sum_u f[b,u] (W[u,o] . x[b] + bias[u,o])` with weight (U, O, D), bias (U, O)."""
    rules, outputs, width = weight.shape
    if x.shape[0] == 1:
        firing_rules = firing[0].nonzero().squeeze(1) if may_look(firing) else None
        if firing_rules is not None and len(firing_rules) <= SPARSE_AT_MOST * rules:
            # Rules that do not fire add exactly nothing, and receive no gradient.
            share = firing[:, firing_rules]
            decisions = (weight[firing_rules] @ x[0]).unsqueeze(0)
            return (decisions * share.unsqueeze(2)).sum(dim=1) + share @ bias[firing_rules]
    decisions = (x @ weight.reshape(rules * outputs, width).t()).view(-1, rules, outputs)
    return (decisions * firing.unsqueeze(2)).sum(dim=1) + firing @ bias


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
