"""From log-firings to firing levels in nodes of an ONNX graph: what `fuzzy.firing.firing_levels` does to tensors."""

from __future__ import annotations

import numpy as np

from ...fuzzy.firing import LAYER_NORM_EPS, NEAR_SOFTMAX, Firing
from ..scores import ScoreLine
from .onnx_graph import Graph

# As many halvings as the bisection of the networks makes; the bracket then has no more doubles to halve.
_HALVINGS = 50


def firing_levels(graph: Graph, sums: str, attributes: int, firing: Firing, line: ScoreLine) -> str:
    """Firing levels (B, U) of summed (or worst) log-memberships, in doubles throughout; `firing` with numbers."""
    scores, rules = sums, len(line.slope)
    share = firing.share(attributes)
    if firing.reduce == "mean":
        scores = graph.node("Div", scores, graph.number(float(attributes), wide=True))
    elif share != 1:
        scores = graph.node("Mul", scores, graph.number(share, wide=True))
    if firing.layer_norm:
        scores = _normalised(graph, scores)
    if not np.all(line.slope == 1):
        scores = graph.node("Mul", scores, graph.constant(line.slope, wide=True))
    if line.level.any():
        scores = graph.node("Add", scores, graph.constant(line.level, wide=True))
    shifted = graph.node("Sub", scores, graph.node("ReduceMax", scores, axes=[1], keepdims=1))
    assert not isinstance(firing.alpha, str)
    return _entmax(graph, shifted, firing.alpha, rules)


def _normalised(graph: Graph, values: str) -> str:
    """Less the mean over the rules, over the deviation (Eqs. 13-15)."""
    centered = graph.node("Sub", values, graph.mean(values))
    variance = graph.mean(graph.node("Mul", centered, centered))
    deviation = graph.node("Sqrt", graph.node("Add", variance, graph.number(LAYER_NORM_EPS, wide=True)))
    return graph.node("Div", centered, deviation)


def _entmax(graph: Graph, shifted: str, alpha: float, rules: int) -> str:
    if alpha - 1 < NEAR_SOFTMAX:
        return graph.node("Softmax", shifted, axis=1)
    if alpha == 1.5:
        return _entmax15(graph, shifted, rules)
    return _sparsemax(graph, shifted, rules) if alpha == 2 else _by_bisection(graph, shifted, alpha, rules)


def _sorted(graph: Graph, values: str, rules: int) -> tuple[str, str]:
    """The values of each row in descending order, and the counts 1 to U."""
    ordered, _ = graph.nodes("TopK", 2, values, graph.integers([rules]), axis=1, largest=1, sorted=1)
    return ordered, graph.constant(np.arange(1, rules + 1, dtype=np.float64), wide=True)


def _threshold(graph: Graph, candidates: str, within: str) -> str:
    """The candidate (B, 1) at the last place that lies within the support; the places within come first."""
    count = graph.sum(graph.node("Cast", within, to=graph.integer_type))
    place = graph.node("Sub", count, graph.integers([1]))
    return graph.node("GatherElements", candidates, place, axis=1)


def _sparsemax(graph: Graph, shifted: str, rules: int) -> str:
    """`max(z - t, 0)` with the t at which the levels sum to 1."""
    ordered, counts = _sorted(graph, shifted, rules)
    sums = graph.node("CumSum", ordered, graph.integers(1))
    one = graph.number(1.0, wide=True)
    within = graph.node("Greater", graph.node("Add", graph.node("Mul", counts, ordered), one), sums)
    candidates = graph.node("Div", graph.node("Sub", sums, one), counts)
    return graph.node("Relu", graph.node("Sub", shifted, _threshold(graph, candidates, within)))


def _entmax15(graph: Graph, shifted: str, rules: int) -> str:
    """`max(z / 2 - t, 0)**2` with the t at which the levels sum to 1, from running means and squares."""
    halved = graph.node("Mul", shifted, graph.number(0.5, wide=True))
    ordered, counts = _sorted(graph, halved, rules)
    axis, one = graph.integers(1), graph.number(1.0, wide=True)
    means = graph.node("Div", graph.node("CumSum", ordered, axis), counts)
    squares = graph.node("CumSum", graph.node("Mul", ordered, ordered), axis)
    scatter = graph.node("Sub", squares, graph.node("Mul", counts, graph.node("Mul", means, means)))
    slack = graph.node("Relu", graph.node("Div", graph.node("Sub", one, scatter), counts))
    candidates = graph.node("Sub", means, graph.node("Sqrt", slack))
    within = graph.node("LessOrEqual", candidates, ordered)
    root = graph.node("Relu", graph.node("Sub", halved, _threshold(graph, candidates, within)))
    return graph.node("Mul", root, root)


def _by_bisection(graph: Graph, shifted: str, alpha: float, rules: int) -> str:
    """`max((alpha - 1) z - t, 0)**(1 / (alpha - 1))`, t found by halving a bracket; rows of z have maximum 0."""
    scaled = graph.node("Mul", shifted, graph.number(alpha - 1, wide=True))
    power, one = graph.number(1 / (alpha - 1), wide=True), graph.number(1.0, wide=True)
    low = graph.number(-1.0, wide=True)
    width = 1.0 - (1.0 / rules) ** (alpha - 1)
    for _ in range(_HALVINGS):
        width /= 2
        middle = graph.node("Add", low, graph.number(width, wide=True))
        levels = graph.node("Pow", graph.node("Relu", graph.node("Sub", scaled, middle)), power)
        total = graph.sum(levels)
        low = graph.node("Where", graph.node("GreaterOrEqual", total, one), middle, low)
    return graph.node("Div", levels, total)
