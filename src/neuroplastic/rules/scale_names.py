"""Names of fuzzy sets by the part of an attribute's scale that they cover: "3 to 12° to the right", "not seen"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..network.scales import Scale
from .rule_base import RuleBase, Variable
from .true_names import HALF


def named_by_scales(rules: RuleBase, scales: Sequence[Scale]) -> RuleBase:
    """The same rules, each set named after the values of membership .5 or more; one scale for each input."""
    inputs = tuple(_named(variable, scale) for variable, scale in zip(rules.inputs, scales, strict=True))
    return replace(rules, inputs=inputs)


def _named(variable: Variable, scale: Scale) -> Variable:
    covered = [(term.center - HALF * term.width, term.center + HALF * term.width) for term in variable.terms]
    names = scale.names(covered)
    terms = (replace(term, name=name) for term, name in zip(variable.terms, names, strict=True))
    return replace(variable, terms=tuple(terms))
