"""From a network to its rule base: sorted and named terms, raw units, consequents in one of two forms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import ConfigError
from ..network.consequents import LowRankConsequent, MamdaniConsequent
from ..network.hierarchy import Hierarchy
from ..network.nfn import NeuroFuzzyNetwork
from .names import hidden_names, term_names, variable_names
from .networks import alpha_of, levels_of, numbers
from .rule_base import IGNORED, Conclusions, Linear, RuleBase, Term, Variable
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
    net, *above = levels_of(net)
    if above:
        raise ConfigError("a hierarchy has a rule base per level; use npl.rule_bases(net)")
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
        firing=replace(net.firing_config, alpha=alpha_of(net)),
        certainty=None if net.certainty is None else numbers(net.certainty),
        gain=None if net.kappa is None else numbers(net.kappa),
        shift=None if net.beta is None else numbers(net.beta),
    )


def rule_bases(
    net: NeuroFuzzyNetwork | Hierarchy,
    *,
    feature_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    scaler: Any = None,
    output_scaler: Any = None,
    terms: Mapping[str, Sequence[str]] | None = None,
) -> tuple[RuleBase, ...]:
    """The rule base of every level; the values between levels are called h1.1, h1.2, ..., then h2.1, ...

    The other arguments are those of `rule_base`. `terms` of a hidden value names its sets where it is an input.
    A network without levels has one rule base.
    """
    levels = levels_of(net)
    last = len(levels) - 1
    inputs = [
        variable_names(feature_names, levels[0].in_features, "feature"),
        *(hidden_names(number, level.out_features) for number, level in enumerate(levels[:-1], start=1)),
    ]
    own_names = _by_level(terms or {}, inputs)
    return tuple(
        rule_base(
            level,
            feature_names=inputs[number] if number else feature_names,
            output_names=output_names if number == last else inputs[number + 1],
            scaler=scaler if number == 0 else None,
            output_scaler=output_scaler if number == last else None,
            terms=own_names[number],
        )
        for number, level in enumerate(levels)
    )


def _by_level(
    terms: Mapping[str, Sequence[str]], inputs: Sequence[Sequence[str]]
) -> list[dict[str, Sequence[str]]]:
    """Names of one's own by level: those of an input where it is one, all others with the outputs at the top."""
    found: list[dict[str, Sequence[str]]] = [{} for _ in inputs]
    for variable, words in terms.items():
        homes = [level for level, names in enumerate(inputs) if variable in names]
        found[homes[0] if homes else -1][variable] = words
    return found


def _inputs(
    net: NeuroFuzzyNetwork, names: Sequence[str], scaling: Scaling, own_names: dict[str, Sequence[str]]
) -> tuple[tuple[Variable, ...], np.ndarray[Any, np.dtype[np.int64]]]:
    """Variables with terms in order of their centres, and premises (U, D) that point into them."""
    centers = scaling.raw(numbers(net.centers).T).T
    widths = numbers(net.widths) * scaling.scale[:, None]
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
    bias = output.raw(numbers(net.bias))
    if not hasattr(part, "weight"):
        return variables, Linear(np.zeros((*bias.shape, 0)), bias)
    weight = numbers(net.weight)
    if isinstance(part, LowRankConsequent):
        weight = weight @ numbers(net.projection).T
    weight = weight * output.scale[:, None] / scaling.scale
    return variables, Linear(weight, bias - weight @ scaling.offset)


def _conclusions(
    part: MamdaniConsequent, names: Sequence[str], output: Scaling, own_names: dict[str, Sequence[str]]
) -> tuple[tuple[Variable, ...], Conclusions]:
    centers = output.raw(numbers(part.output_centers).T).T
    widths = numbers(part.output_widths) * output.scale[:, None]
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
