"""Networks as ONNX graphs: the rules as they are settled in evaluation, in plain operations, for any batch.

The graph is built node by node rather than traced, so nothing depends on an example input. Squared distances are
expanded into two matrix products, `-x**2 @ S + 2 x @ (S C) - sum S C**2` with x and the centres C measured from
the attribute's mean centre, so no tensor of shape (B, U, D) exists; the products cancel, hence doubles.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import torch

from ...fuzzy.firing import LAYER_NORM_EPS, NEAR_SOFTMAX
from ...fuzzy.membership import input_limit
from ...network.consequents import LowRankConsequent, MamdaniConsequent
from ...network.hierarchy import Hierarchy
from ...network.nfn import NeuroFuzzyNetwork
from ...whole_files import write_whole
from ..networks import alpha_of, levels_of, numbers
from ..scaling import Scaling
from .onnx_graph import Graph, checked_bytes

# As many halvings as the bisection of the networks makes; the bracket then has no more doubles to halve.
_HALVINGS = 50


def to_onnx(
    net: NeuroFuzzyNetwork | Hierarchy,
    path: str | os.PathLike[str],
    *,
    scaler: Any = None,
    output_scaler: Any = None,
    double: bool | None = None,
) -> None:
    """Write the network as `onnx_of` has it."""
    write_whole(path, onnx_of(net, scaler=scaler, output_scaler=output_scaler, double=double))


def onnx_of(
    net: NeuroFuzzyNetwork | Hierarchy,
    *,
    scaler: Any = None,
    output_scaler: Any = None,
    double: bool | None = None,
) -> bytes:
    """The network as in evaluation mode: input `x` (batch, inputs), output `y` (batch, outputs).

    With `scaler` and `output_scaler` (see `rule_base`) the graph takes and gives raw units. Opset 17, in the
    network's precision unless `double` says otherwise, all firing options and consequents. Grown networks carry
    their present sets. Unlike the network, the graph does not refuse inputs that are not finite.
    """
    levels = levels_of(net)
    if double is None:
        double = levels[0].centers.dtype == torch.float64
    graph = Graph(np.dtype(np.float64 if double else np.float32))
    value = "x"
    if scaler is not None:
        inner = Scaling.of(scaler, levels[0].in_features)
        moved = graph.node("Sub", graph.wide(value), graph.constant(inner.offset, wide=True))
        value = graph.narrow(graph.node("Div", moved, graph.constant(inner.scale, wide=True)))
    for level in levels:
        value = _level(graph, level, value)
    if output_scaler is not None:
        outer = Scaling.of(output_scaler, levels[-1].out_features)
        stretched = graph.node("Mul", graph.wide(value), graph.constant(outer.scale, wide=True))
        value = graph.narrow(graph.node("Add", stretched, graph.constant(outer.offset, wide=True)))
    return checked_bytes(graph, value, levels[0].in_features, levels[-1].out_features)


def _level(graph: Graph, net: NeuroFuzzyNetwork, x: str) -> str:
    return _decided(graph, net, x, _firing(graph, net, _log_firing(graph, net, x)))


def _log_firing(graph: Graph, net: NeuroFuzzyNetwork, x: str) -> str:
    """Log-firing of each rule (Eq. 6 or 12), (B, U), in doubles."""
    chosen = net.premises().t()  # (D, U)
    centers = numbers(net.centers.detach().gather(1, chosen))
    precisions = numbers(net.antecedent.precisions().detach().gather(1, chosen))
    # Rounded as the graph's input is, so that x minus it is exact where x is near.
    origin = centers.mean(axis=1).astype(graph.dtype)
    away = centers - origin[:, None]
    if net.firing_config.reduce == "mean":
        precisions = precisions / net.in_features
    limit = input_limit(torch.float64 if graph.dtype == np.float64 else torch.float32)
    bounded = graph.node("Clip", x, graph.number(-limit), graph.number(limit))
    shifted = graph.node("Sub", graph.wide(bounded), graph.constant(origin, wide=True))
    squares = graph.node(
        "MatMul", graph.node("Mul", shifted, shifted), graph.constant(-precisions, wide=True)
    )
    products = graph.node("MatMul", shifted, graph.constant(2 * precisions * away, wide=True))
    rest = graph.constant(-(precisions * away * away).sum(axis=0), wide=True)
    return graph.node("Add", graph.node("Add", squares, products), rest)


def _firing(graph: Graph, net: NeuroFuzzyNetwork, levels: str) -> str:
    """Layer norm (Eqs. 13-15), certainty and alpha-entmax over the rules, (B, U)."""
    if net.kappa is not None and net.beta is not None:
        centered = graph.node("Sub", levels, graph.mean(levels))
        variance = graph.mean(graph.node("Mul", centered, centered))
        deviation = graph.node("Sqrt", graph.node("Add", variance, graph.number(LAYER_NORM_EPS, wide=True)))
        scaled = graph.node(
            "Mul", graph.node("Div", centered, deviation), graph.constant(numbers(net.kappa), wide=True)
        )
        levels = graph.node("Add", scaled, graph.constant(numbers(net.beta), wide=True))
    if net.certainty is not None:
        if net.firing_config.certainty == "log":
            logs = -np.logaddexp(0, -numbers(net.certainty))
            levels = graph.node("Add", levels, graph.constant(logs, wide=True))
        else:
            levels = graph.node("Mul", levels, graph.constant(np.tanh(numbers(net.certainty)), wide=True))
    shifted = graph.node("Sub", levels, graph.node("ReduceMax", levels, axes=[1], keepdims=1))
    return graph.narrow(_entmax(graph, shifted, alpha_of(net), net.rules))


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


def _decided(graph: Graph, net: NeuroFuzzyNetwork, x: str, firing: str) -> str:
    """The firing-weighted sum of the decisions, (B, O)."""
    part = net.consequent
    if isinstance(part, MamdaniConsequent):
        chosen = part.conclusions().t()  # (O, U)
        centers = numbers(part.output_centers.detach().gather(1, chosen)).T
        if part.config.defuzzifier == "height":
            return graph.node("MatMul", firing, graph.constant(centers))
        widths = numbers(part.output_widths.detach().gather(1, chosen)).T
        moments = graph.node("MatMul", firing, graph.constant(centers * widths))
        return graph.node("Div", moments, graph.node("MatMul", firing, graph.constant(widths)))
    constants = graph.node("MatMul", firing, graph.constant(numbers(net.bias)))
    if not hasattr(part, "weight"):
        return constants
    if isinstance(part, LowRankConsequent):
        x = graph.node("MatMul", x, graph.constant(numbers(net.projection)))
    weight = numbers(net.weight)  # (U, O, D)
    rules, outputs, width = weight.shape
    flat = graph.constant(weight.reshape(rules * outputs, width).T)
    shape = graph.integers([-1, rules, outputs])
    decisions = graph.node("Reshape", graph.node("MatMul", x, flat), shape)
    shares = graph.node("Reshape", firing, graph.integers([-1, 1, rules]))
    mixed = graph.node("MatMul", shares, decisions)  # (B, 1, O)
    return graph.node("Add", graph.node("Reshape", mixed, graph.integers([-1, outputs])), constants)
