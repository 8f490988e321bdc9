"""From a network to its rule base: sorted and named terms, raw units, consequents in one of two forms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..errors import ConfigError
from ..network.consequents import LowRankConsequent, MamdaniConsequent
from ..network.hierarchy import Hierarchy
from ..network.nfn import NeuroFuzzyNetwork
from .names import term_names, variable_names
from .rule_base import IGNORED, Conclusions, Linear, Numbers, RuleBase, Term, Variable
from .scaling import Scaling


def rule_base(
    net: NeuroFuzzyNetwork | Hierarchy,
    *,
    feature_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    scaler: Any = None,
    output_scaler: Any = None,
    terms: Mapping[str, Sequence[str]] | None = None,
) -> RuleBase:
    """The rules of a network as in evaluation, in raw units where scalers are given.

    `scaler` made the network's inputs and `output_scaler` its targets: fitted scikit-learn scalers, or pairs
    (offset, scale). `terms` gives names of your own, by variable, in order of the sets' centres.
    """
    if isinstance(net, Hierarchy):
        if len(net.levels) > 1:
            raise ConfigError("a hierarchy has a rule base per level; use npl.rule_bases(net)")
        net = net.levels[0]
    if not isinstance(net, NeuroFuzzyNetwork):
        raise ConfigError(f"net must be a NeuroFuzzyNetwork or a Hierarchy, got {type(net).__name__}")
    own_names = dict(terms or {})
    scaling = Scaling.of(scaler, net.in_features)
    names = variable_names(feature_names, net.in_features, "feature")
    inputs, premises = _inputs(net, names, scaling, own_names)
    names = variable_names(output_names, net.out_features, "output")
    outputs, consequents = _outputs(
        net, names, scaling, Scaling.of(output_scaler, net.out_features), own_names
    )
    if own_names:
        raise ConfigError(f"terms names variables that do not exist or have no terms: {', '.join(own_names)}")
    return RuleBase(
        inputs,
        outputs,
        premises,
        consequents,
        firing=replace(net.firing_config, alpha=_alpha(net)),
        certainty=None if net.certainty is None else _numbers(net.certainty),
        gain=None if net.kappa is None else _numbers(net.kappa),
        shift=None if net.beta is None else _numbers(net.beta),
    )


def rule_bases(
    net: Hierarchy,
    *,
    feature_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    scaler: Any = None,
    output_scaler: Any = None,
) -> tuple[RuleBase, ...]:
    """The rule base of every level; the values between levels are called h1.1, h1.2, ..., then h2.1, ..."""
    last = len(net.levels) - 1
    hidden = [
        [f"h{level}.{unit}" for unit in range(1, width + 1)] for level, width in enumerate(net.sizes[1:-1], 1)
    ]
    return tuple(
        rule_base(
            level,
            feature_names=feature_names if number == 0 else hidden[number - 1],
            output_names=output_names if number == last else hidden[number],
            scaler=scaler if number == 0 else None,
            output_scaler=output_scaler if number == last else None,
        )
        for number, level in enumerate(net.levels)
    )


def _alpha(net: NeuroFuzzyNetwork) -> float:
    return float(net.alpha.detach()) if isinstance(net.alpha, Tensor) else net.alpha


def _numbers(tensor: Tensor) -> Numbers:
    values: Numbers = tensor.detach().to("cpu", torch.float64).numpy().copy()
    return values


def _inputs(
    net: NeuroFuzzyNetwork, names: Sequence[str], scaling: Scaling, own_names: dict[str, Sequence[str]]
) -> tuple[tuple[Variable, ...], np.ndarray[Any, np.dtype[np.int64]]]:
    """Variables with terms in order of their centres, and premises (U, D) that point into them."""
    centers = scaling.raw(_numbers(net.centers).T).T
    widths = _numbers(net.widths) * scaling.scale[:, None]
    exists = net.antecedent.covering_mask.cpu().numpy()
    chosen = net.premises().cpu().numpy()
    premises = np.full_like(chosen, IGNORED)
    variables = []
    for attribute, name in enumerate(names):
        order = [int(t) for t in np.argsort(centers[attribute], kind="stable") if exists[attribute, t]]
        words = _words(name, len(order), own_names)
        variables.append(
            Variable(
                name,
                tuple(
                    Term(word, float(centers[attribute, t]), float(widths[attribute, t]))
                    for word, t in zip(words, order, strict=True)
                ),
            )
        )
        for place, term in enumerate(order):
            premises[chosen[:, attribute] == term, attribute] = place
    return tuple(variables), premises


def _words(name: str, count: int, own_names: dict[str, Sequence[str]]) -> Sequence[str]:
    if name not in own_names:
        return term_names(count)
    words = own_names.pop(name)
    if len(words) != count:
        raise ConfigError(
            f"terms[{name!r}] must name its {count} sets in order of their centres, got {words!r}"
        )
    return words


def _outputs(
    net: NeuroFuzzyNetwork,
    names: Sequence[str],
    scaling: Scaling,
    output: Scaling,
    own_names: dict[str, Sequence[str]],
) -> tuple[tuple[Variable, ...], Linear | Conclusions]:
    part = net.consequent
    if isinstance(part, MamdaniConsequent):
        return _conclusions(part, names, output, own_names)
    variables = tuple(Variable(name) for name in names)
    # Firing levels sum to 1, so a scaled output is the same mixture of scaled consequents.
    bias = output.raw(_numbers(net.bias))
    if not hasattr(part, "weight"):
        return variables, Linear(np.zeros((*bias.shape, 0)), bias)
    weight = _numbers(net.weight)
    if isinstance(part, LowRankConsequent):
        weight = weight @ _numbers(net.projection).T
    weight = weight * output.scale[:, None] / scaling.scale
    return variables, Linear(weight, bias - weight @ scaling.offset)


def _conclusions(
    part: MamdaniConsequent, names: Sequence[str], output: Scaling, own_names: dict[str, Sequence[str]]
) -> tuple[tuple[Variable, ...], Conclusions]:
    centers = output.raw(_numbers(part.output_centers).T).T
    widths = _numbers(part.output_widths) * output.scale[:, None]
    order = np.argsort(centers, axis=1, kind="stable")
    places = np.argsort(order, axis=1, kind="stable")  # of each set among the sorted ones
    variables = tuple(
        Variable(
            name,
            tuple(
                Term(word, float(centers[o, t]), float(widths[o, t]))
                for word, t in zip(_words(name, order.shape[1], own_names), order[o].tolist(), strict=True)
            ),
        )
        for o, name in enumerate(names)
    )
    chosen = part.conclusions().cpu().numpy()
    terms = np.stack([places[o][chosen[:, o]] for o in range(len(names))], axis=1)
    return variables, Conclusions(terms, part.config.defuzzifier)
