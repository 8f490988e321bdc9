"""From rule text to a rule base: arrays of what the parser read, and settings as a network stores them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...errors import ConfigError
from ...fuzzy.firing import Firing
from ..rule_base import IGNORED, Conclusions, Linear, Numbers, RuleBase, Variable
from .parser import Parser, Written
from .tokens import Token

# Rules, inputs and outputs make dense arrays: this many numbers are 2 GB.
MOST_NUMBERS = 2**28

# The greatest certainties below 1 that doubles can tell from it, as a network stores them.
FULL_CERTAINTY = {"log": math.log(2.0**53 - 1), "tanh": math.atanh(1 - 2.0**-53)}


def parse(
    text: str,
    inputs: Sequence[Variable],
    outputs: Sequence[Variable] | None = None,
    firing: Firing | None = None,
    defuzzifier: str = "height",
) -> tuple[RuleBase, list[int]]:
    """The rule base that a text describes, and the rules' numbers as written.

    Outputs with terms make Mamdani rules; others are sums of the inputs (TSK), constants where no rule names an
    input. `firing` None stands for the sum of log-memberships under softmax, with certainty if the text has it.
    """
    if not isinstance(text, str):
        raise ConfigError(f"rule text must be a str, got {type(text).__name__}")
    if outputs and len({bool(variable.terms) for variable in outputs}) > 1:
        raise ConfigError("either all outputs have terms (Mamdani) or none has (sums of the inputs)")
    parser = Parser(text, inputs, outputs)
    rules = parser.rules()
    named = tuple(outputs or (Variable(name) for name in parser.output_names()))
    if len(rules) * len(inputs) * max(len(named), 1) > MOST_NUMBERS:
        raise ConfigError(
            f"{len(rules)} rules of {len(inputs)} inputs and {len(named)} outputs are too many for one rule base"
        )
    premises = np.full((len(rules), len(inputs)), IGNORED, dtype=np.int64)
    for row, rule in zip(premises, rules, strict=True):
        row[list(rule.premises)] = list(rule.premises.values())
    fuzzy = bool(named and named[0].terms)
    firing = _firing(rules) if firing is None else firing
    base = RuleBase(
        tuple(inputs),
        named,
        premises,
        _conclusions(rules, len(named), defuzzifier) if fuzzy else _linear(rules, len(inputs), len(named)),
        firing,
        certainty=_certainty(rules, firing),
        gain=_setting(rules, "gain", 1.0, firing.layer_norm),
        shift=_setting(rules, "shift", 0.0, firing.layer_norm),
    )
    return base, [rule.number for rule in rules]


def _conclusions(rules: list[Written], outputs: int, defuzzifier: str) -> Conclusions:
    terms = [[rule.conclusions[output] for output in range(outputs)] for rule in rules]
    return Conclusions(np.array(terms, dtype=np.int64), defuzzifier)


def _linear(rules: list[Written], inputs: int, outputs: int) -> Linear:
    sloped = any(len(places) for rule in rules for places, _ in rule.slopes.values())
    weight = np.zeros((len(rules), outputs, inputs if sloped else 0))
    bias = np.zeros((len(rules), outputs))
    for place, rule in enumerate(rules):
        for output, value in rule.bias.items():
            bias[place, output] = value
            attributes, weights = rule.slopes[output]
            weight[place, output, attributes] = weights
    return Linear(weight, bias)


def _firing(rules: list[Written]) -> Firing:
    given = {name for rule in rules for name in rule.settings}
    return Firing(
        reduce="sum",
        alpha=1.0,
        layer_norm=bool(given & {"gain", "shift"}),
        certainty="log" if given & {"certainty", "certainty weight"} else None,
    )


def _setting(rules: list[Written], name: str, default: float, wanted: bool) -> Numbers | None:
    for rule in rules:
        if name in rule.settings and not wanted:
            rule.settings[name][1].fail(
                f"{name} belongs to the layer norm, which firing switches off", "no such setting"
            )
    return np.array([rule.settings.get(name, (default,))[0] for rule in rules]) if wanted else None


def _certainty(rules: list[Written], firing: Firing) -> Numbers | None:
    """Certainties as a network stores them; a rule that names none is fully certain."""
    values = []
    for rule in rules:
        if firing.certainty is None:
            for name in ("certainty", "certainty weight"):
                if name in rule.settings:
                    rule.settings[name][1].fail(
                        f"rule {rule.number} has a {name}, but firing.certainty is None: use 'log'",
                        "no such setting",
                    )
            continue
        if "certainty weight" in rule.settings:
            value, token = rule.settings["certainty weight"]
            if "certainty" in rule.settings:
                token.fail("a rule has a certainty or a certainty weight, not both", "another setting")
            values.append(value)
            continue
        values.append(_stored(*rule.settings.get("certainty", (1.0, rule.start)), firing.certainty))
    return np.array(values) if firing.certainty is not None else None


def _stored(value: float, token: Token, form: str) -> float:
    least = 0.0 if form == "log" else -1.0
    if not least < value <= 1:
        token.fail(
            f"certainty must be above {least:g} and at most 1, got {value!r}", "a certainty in that range"
        )
    if value == 1:
        return FULL_CERTAINTY[form]
    return math.log(value) - math.log1p(-value) if form == "log" else math.atanh(value)
