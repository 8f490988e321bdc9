"""Networks as ONNX graphs: the rules as they are settled in evaluation, in plain operations, for any batch.

The graph is built node by node rather than traced, so nothing depends on an example input. Squared distances are
expanded into two matrix products, `-x**2 @ S + 2 x @ (S C) - sum S C**2` with x and the centres C measured from
the attribute's mean centre, so no tensor of shape (B, U, D) exists; the products cancel, hence doubles. The least of
them (`reduce="worst"`) is found a few attributes at a time.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import torch

from ...fuzzy.membership import input_limit
from ...network.consequents import MamdaniConsequent
from ...network.hierarchy import Hierarchy
from ...network.nfn import NeuroFuzzyNetwork
from ...whole_files import write_whole
from ..building import network_of
from ..estimators import is_estimator
from ..networks import firing_of, levels_of, numbers
from ..rule_base import Numbers, RuleBase
from ..scaling import Scaling
from ..scores import ScoreLine
from .errors import StandardError
from .onnx_firing import firing_levels
from .onnx_graph import Graph, checked_bytes
from .onnx_names import Names
from .source import Source

# With rules compared by their worst premise, so many attributes are looked at in one tensor (B, of them, U).
ATTRIBUTES_AT_ONCE = 32


class Onnx:
    """ONNX, written only: rules are settled in it, and cannot be told from the rest of a graph."""

    reads = False

    def write(self, source: Source) -> bytes:
        """See `Standard`. A fitted estimator's graph takes raw units, in single precision, and names its columns."""
        if isinstance(source, RuleBase):
            return onnx_of(network_of(source), names=Names.of(source))
        if is_estimator(source):
            stretch = getattr(source, "target_scale_", None)
            outer = None if stretch is None else (getattr(source, "target_offset_", 0.0), stretch)
            return onnx_of(
                source.network_,
                scaler=(source.offset_, source.scale_),
                output_scaler=outer,
                double=False,
                clip=getattr(source, "clip_", None),
                names=Names.of(source.rules_, getattr(source, "encoder_", None)),
            )
        return onnx_of(source)

    def read(self, content: bytes) -> RuleBase:
        """See `Standard`."""
        raise StandardError("ONNX is for export only; keep the network with npl.save, or its rules as .fml")


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
    clip: Numbers | None = None,
    names: Names | None = None,
) -> bytes:
    """The network as in evaluation mode: input `x` (batch, inputs), output `y` (batch, outputs).

    With `scaler` and `output_scaler` (see `rule_base`) the graph takes and gives raw units; values beyond `clip` (2, D)
    count as these, as in a readable estimator. `names` are written down beside it. Opset 17, in the
    network's precision unless `double` says otherwise, all firing options and consequents. Grown networks carry
    their present sets. Unlike the network, the graph does not refuse inputs that are not finite.
    """
    levels = levels_of(net)
    if double is None:
        double = levels[0].centers.dtype == torch.float64
    graph = Graph(np.dtype(np.float64 if double else np.float32))
    value = "x"
    if clip is not None:
        low, high = (graph.constant(end, wide=True) for end in clip)
        value = graph.narrow(graph.node("Min", graph.node("Max", graph.wide(value), low), high))
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
    notes = {} if names is None else names.notes()
    return checked_bytes(graph, value, levels[0].in_features, levels[-1].out_features, notes)


def _level(graph: Graph, net: NeuroFuzzyNetwork, x: str) -> str:
    firing = firing_of(net)
    levels = firing_levels(graph, _log_firing(graph, net, x), net.in_features, firing, _score_line(net))
    return _decided(graph, net, x, graph.narrow(levels))


def _score_line(net: NeuroFuzzyNetwork) -> ScoreLine:
    own = (None if values is None else numbers(values) for values in (net.kappa, net.beta, net.certainty))
    gain, shift, certainty = own
    return ScoreLine.of(net.firing_config, net.rules, gain=gain, shift=shift, certainty=certainty)


def _log_firing(graph: Graph, net: NeuroFuzzyNetwork, x: str) -> str:
    """Log-firing of each rule as a sum (Eq. 6), or the worst premise's, (B, U), in doubles, before any gain."""
    chosen = net.premises().t()  # (D, U)
    centers = numbers(net.centers.detach().gather(1, chosen))
    precisions = numbers(net.antecedent.precisions().detach().gather(1, chosen))
    # Rounded as the graph's input is, so that x minus it is exact where x is near.
    origin = centers.mean(axis=1).astype(graph.dtype)
    away = centers - origin[:, None]
    limit = input_limit(torch.float64 if graph.dtype == np.float64 else torch.float32)
    bounded = graph.node("Clip", x, graph.number(-limit), graph.number(limit))
    shifted = graph.node("Sub", graph.wide(bounded), graph.constant(origin, wide=True))
    if net.firing_config.reduce == "worst":
        return _worst(graph, shifted, away, precisions)
    squares = graph.node(
        "MatMul", graph.node("Mul", shifted, shifted), graph.constant(-precisions, wide=True)
    )
    products = graph.node("MatMul", shifted, graph.constant(2 * precisions * away, wide=True))
    rest = graph.constant(-(precisions * away * away).sum(axis=0), wide=True)
    return graph.node("Add", graph.node("Add", squares, products), rest)


def _worst(graph: Graph, shifted: str, away: Numbers, precisions: Numbers) -> str:
    """The least log-membership over the attributes, (B, U), so many of them at once."""
    attributes = len(away)
    least = None
    for start in range(0, attributes, ATTRIBUTES_AT_ONCE):
        rows = slice(start, min(start + ATTRIBUTES_AT_ONCE, attributes))
        places = graph.integers(list(range(rows.start, rows.stop)))
        columns = graph.node("Gather", shifted, places, axis=1)
        beside = graph.node("Reshape", columns, graph.integers([-1, rows.stop - rows.start, 1]))
        distance = graph.node("Sub", beside, graph.constant(away[rows], wide=True))
        part = graph.node(
            "Mul", graph.node("Mul", distance, distance), graph.constant(-precisions[rows], wide=True)
        )
        worst = graph.node("ReduceMin", part, axes=[1], keepdims=0)
        least = worst if least is None else graph.node("Min", least, worst)
    assert least is not None
    return least


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
    form = part.linear()
    constants = graph.node("MatMul", firing, graph.constant(numbers(form.bias)))
    if form.weight is None:
        return constants
    if form.projection is not None:
        x = graph.node("MatMul", x, graph.constant(numbers(form.projection)))
    weight = numbers(form.weight)  # (U, O, D)
    rules, outputs, width = weight.shape
    flat = graph.constant(weight.reshape(rules * outputs, width).T)
    shape = graph.integers([-1, rules, outputs])
    decisions = graph.node("Reshape", graph.node("MatMul", x, flat), shape)
    shares = graph.node("Reshape", firing, graph.integers([-1, 1, rules]))
    mixed = graph.node("MatMul", shares, decisions)  # (B, 1, O)
    return graph.node("Add", graph.node("Reshape", mixed, graph.integers([-1, outputs])), constants)
