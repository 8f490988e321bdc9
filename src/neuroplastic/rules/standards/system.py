"""The common ground of the standards: Gaussian premises, product or minimum, rule weights, weighted average.

`y_o = sum_u v_u f_u g_uo(x) / sum_u v_u f_u` with `f_u` the product of the premises' memberships, `v_u` the weight
of the rule in [0, 1] and `g_uo` a constant or an affine function. This is a network with `reduce="sum"`, or, with the
minimum of the memberships instead, `reduce="worst"` and a gain of 1, and with `alpha=1`, no layer norm, and certainty
None or "log", for `sigmoid(certainty)` is a factor of the firing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...fuzzy.firing import Firing
from ..rule_base import IGNORED, Conclusions, Indices, Linear, Numbers, RuleBase, Term, Variable
from ..scores import log_certainty
from .errors import NotExpressibleError

# A set this wide has membership 1 everywhere: it stands for "any" where a format insists on a premise.
ANYTHING = 1e15
ANYTHING_NAME = "anything"

# How premises are joined, and the `reduce` that does it.
CONJUNCTIONS = {"prod": "sum", "min": "worst"}

# Larger rule bases than this (rules times inputs times outputs) are refused: a small file could ask for them.
MOST_NUMBERS = 20_000_000


@dataclass(frozen=True)
class Decision:
    """What a rule says of one output: `bias + slope . x`, or `bias` alone (slope None)."""

    name: str
    bias: float
    slope: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Output:
    """An output with the decisions that rules choose from."""

    name: str
    decisions: tuple[Decision, ...]


@dataclass(frozen=True, eq=False)
class System:
    """A fuzzy system of the common ground. A format's writer needs nothing else, and its reader gives one."""

    inputs: tuple[Variable, ...]
    outputs: tuple[Output, ...]
    premises: Indices
    """(U, D): index of a term or IGNORED"""
    conclusions: Indices
    """(U, O): index of a decision"""
    weights: Numbers
    """(U,): in [0, 1]"""
    conjunction: str = "prod"
    """how premises are joined: 'prod' or 'min'"""


def system_of(rules: RuleBase, standard: str) -> System:
    """The rule base on the common ground; what lies outside it is refused by name."""
    _check_firing(rules.firing, standard)
    weights = np.ones(len(rules)) if rules.certainty is None else _weights(rules.certainty)
    if isinstance(rules.consequents, Linear):
        outputs, conclusions = _decisions(rules, rules.consequents)
    else:
        outputs, conclusions, factors = _singletons(rules, rules.consequents, standard)
        weights = weights * factors
    inputs, premises = _with_anything(rules)
    conjunction = next(name for name, reduce in CONJUNCTIONS.items() if reduce == rules.firing.reduce)
    return System(inputs, outputs, premises, conclusions, weights, conjunction)


def _check_firing(firing: Firing, standard: str) -> None:
    keep = "; or keep the network with npl.save, or as .onnx"
    if firing.layer_norm:
        raise NotExpressibleError(
            f"firing.layer_norm=True cannot be said in {standard}: rules are not normalised among each other there; "
            f"train with npl.Firing(layer_norm=False, alpha=1){keep}"
        )
    if firing.alpha != 1:
        raise NotExpressibleError(
            f"firing.alpha={firing.alpha} (entmax) cannot be said in {standard}, which divides firings by their sum: "
            f"that is alpha=1; train with npl.Firing(layer_norm=False, alpha=1){keep}"
        )
    if firing.reduce not in CONJUNCTIONS.values():
        raise NotExpressibleError(
            f"firing.reduce={firing.reduce!r} cannot be said in {standard}, where AND is the product or the minimum: "
            f"that is reduce='sum' or 'worst'; rules.without_gain() fires the same with sets of other widths{keep}"
        )
    if firing.reduce == "worst" and firing.gain != 1:
        raise NotExpressibleError(
            f"firing.gain={firing.gain:g} cannot be said in {standard}, where the minimum has no gain; "
            f"rules.without_gain() fires the same with sets of other widths{keep}"
        )
    if firing.certainty not in (None, "log"):
        raise NotExpressibleError(
            f"firing.certainty={firing.certainty!r} cannot be said in {standard}, where a rule's weight multiplies "
            f"its firing: that is certainty='log'{keep}"
        )


def _weights(certainty: Numbers) -> Numbers:
    """`sigmoid(certainty)`; where all of them would vanish, relative to the greatest, which changes no output."""
    logs = log_certainty(certainty)
    weights: Numbers = np.exp(logs if logs.max() > -200 else logs - logs.max())
    return weights


def _decisions(rules: RuleBase, linear: Linear) -> tuple[tuple[Output, ...], Indices]:
    """Every rule has a decision of its own per output."""
    slopes = None if linear.is_constant else linear.weight.tolist()
    outputs = tuple(
        Output(
            variable.name,
            tuple(
                Decision(
                    f"rule {u + 1}", float(linear.bias[u, o]), None if slopes is None else tuple(slopes[u][o])
                )
                for u in range(len(rules))
            ),
        )
        for o, variable in enumerate(rules.outputs)
    )
    return outputs, np.repeat(np.arange(len(rules))[:, None], len(outputs), axis=1)


def _singletons(
    rules: RuleBase, parts: Conclusions, standard: str
) -> tuple[tuple[Output, ...], Indices, Numbers]:
    """Mamdani outputs as constants at the sets' centres, and the factors (U,) that the sets' areas put on rules.

    Height method: the firing-weighted mean of centres. Centre of area: the same with firings times areas, so the
    areas, relative to the greatest of their output, become rule weights; outputs must agree on them.
    """
    outputs = tuple(
        Output(variable.name, tuple(Decision(term.name, term.center) for term in variable.terms))
        for variable in rules.outputs
    )
    factors = np.ones((len(rules), len(outputs)))
    if parts.defuzzifier == "area":
        for o, variable in enumerate(rules.outputs):
            widths = np.array([term.width for term in variable.terms])[parts.terms[:, o]]
            factors[:, o] = widths / widths.max()
        if not np.allclose(factors, factors[:, :1], rtol=1e-12, atol=0):
            raise NotExpressibleError(
                f"defuzzifier='area' with {len(outputs)} outputs cannot be said in {standard}: a rule has one weight "
                "for all outputs, and here the areas of its conclusions differ between outputs; use "
                "defuzzifier='height', or one network per output"
            )
    return outputs, parts.terms, factors[:, 0]


def _with_anything(rules: RuleBase) -> tuple[tuple[Variable, ...], Indices]:
    """Formats want a term in every input and a premise in every rule: where one is missing, a set that is all 1."""
    premises = rules.premises.copy()
    bare = (premises == IGNORED).all(axis=1)
    inputs = list(rules.inputs)
    for d, variable in enumerate(inputs):
        if not variable.terms or (d == 0 and bare.any()):
            if d == 0:
                premises[bare, 0] = len(variable.terms)
            names = {term.name for term in variable.terms}
            name = next(n for n in (ANYTHING_NAME + "_" * k for k in range(len(names) + 1)) if n not in names)
            inputs[d] = Variable(variable.name, (*variable.terms, Term(name, 0.0, ANYTHING)))
    return tuple(inputs), premises


def rule_base_of(system: System) -> RuleBase:
    """The rule base of a system that was read. Rules of weight 0 are left out: they never fire.

    Weights become certainties. Only their ratios matter, so where one of them is 1, whose certainty would be
    infinite, all are halved; equal weights need no certainty at all.
    """
    fires = system.weights > 0
    if not fires.any():
        raise NotExpressibleError(
            "every rule has weight 0, so none ever fires; give at least one a weight above 0"
        )
    weights, conclusions = system.weights[fires], system.conclusions[fires]
    inputs, premises = _without_anything(system.inputs, system.premises[fires])
    first_order = any(d.slope is not None for output in system.outputs for d in output.decisions)
    check_size(len(weights), len(inputs), len(system.outputs) if first_order else 1)
    certainty = None
    if not (weights == weights[0]).all():
        scaled = weights if weights.max() < 1 else weights / 2
        certainty = np.log(scaled) - np.log1p(-scaled)
    return RuleBase(
        inputs,
        tuple(Variable(output.name) for output in system.outputs),
        premises,
        _linear(system.outputs, conclusions, len(inputs), first_order=first_order),
        Firing(
            CONJUNCTIONS[system.conjunction],
            alpha=1.0,
            layer_norm=False,
            certainty=None if certainty is None else "log",
        ),
        certainty,
    )


def check_size(rules: int, inputs: int, outputs: int) -> None:
    """Refuse a rule base that would take gigabytes, before any memory is asked for."""
    if rules * inputs * outputs > MOST_NUMBERS:
        raise NotExpressibleError(
            f"{rules} rules times {inputs} inputs times {outputs} outputs is more than the {MOST_NUMBERS} numbers "
            "that are read; split the system"
        )


def _linear(outputs: tuple[Output, ...], conclusions: Indices, inputs: int, *, first_order: bool) -> Linear:
    width = inputs if first_order else 0
    bias = np.empty(conclusions.shape)
    weight = np.zeros((*conclusions.shape, width))
    for o, output in enumerate(outputs):
        bias[:, o] = np.array([d.bias for d in output.decisions])[conclusions[:, o]]
        if first_order:
            flat = (0.0,) * inputs
            slopes = np.array([flat if d.slope is None else d.slope for d in output.decisions])
            weight[:, o] = slopes[conclusions[:, o]]
    return Linear(weight, bias)


def _without_anything(
    inputs: tuple[Variable, ...], premises: Indices
) -> tuple[tuple[Variable, ...], Indices]:
    """Leave out the sets whose membership is 1 everywhere; rules that use them ignore the input."""
    premises = premises.copy()
    kept = []
    for d, variable in enumerate(inputs):
        places = np.full(len(variable.terms) + 1, IGNORED)  # the last entry serves IGNORED itself
        stay = [t for t, term in enumerate(variable.terms) if term.width < ANYTHING / 2]
        if len(stay) == len(variable.terms):
            kept.append(variable)
            continue
        places[stay] = np.arange(len(stay))
        premises[:, d] = places[premises[:, d]]
        kept.append(Variable(variable.name, tuple(variable.terms[t] for t in stay)))
    return tuple(kept), premises
