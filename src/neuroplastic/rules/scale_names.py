"""Names of fuzzy sets by the part of an attribute's scale that they cover: "3 to 12° to the right", "not seen"."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from ..network.scales import Scale
from ..network.starting import HALF
from .rule_base import RuleBase, Variable

Ends = tuple[float, float]
_OPEN: Ends = (-math.inf, math.inf)


def named_by_scales(rules: RuleBase, scales: Sequence[Scale], ends: Sequence[Ends] | None = None) -> RuleBase:
    """The same rules, each set named after the values of membership .5 or more; one scale for each input.

    Where values beyond the `ends` of an input count as at its end, a set that reaches there has all of them.
    """
    given = zip(rules.inputs, scales, ends or [_OPEN] * len(scales), strict=True)
    return replace(rules, inputs=tuple(_named(variable, scale, end) for variable, scale, end in given))


def _named(variable: Variable, scale: Scale, ends: Ends) -> Variable:
    covered = []
    for term in variable.terms:
        low, high = term.center - HALF * term.width, term.center + HALF * term.width
        covered.append((-math.inf if low <= ends[0] else low, math.inf if high >= ends[1] else high))
    names = scale.names(covered)
    terms = (replace(term, name=name) for term, name in zip(variable.terms, names, strict=True))
    return replace(variable, terms=tuple(terms))
