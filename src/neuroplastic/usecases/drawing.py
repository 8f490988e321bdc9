"""A rule base as a page draws it: inputs with their sets, premises, sentences, conclusions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..rules.rule_base import Numbers, RuleBase

if TYPE_CHECKING:  # tables need scikit-learn, and agents none
    from .editing import Effect

BARS = 24


@dataclass(frozen=True)
class DrawnInput:
    """An input with its sets, and how its values lie."""

    name: str
    terms: tuple[tuple[str, float, float], ...]
    """name, centre, width"""
    low: float
    high: float
    histogram: tuple[int, ...]
    """empty where no rows are known"""


@dataclass(frozen=True)
class DrawnRules:
    """All that a page shows of edited rules."""

    inputs: tuple[DrawnInput, ...]
    outputs: tuple[str, ...]
    classes: bool
    premises: tuple[tuple[int, ...], ...]
    conclusions: tuple[tuple[float, ...], ...]
    formulas: bool
    """whether a conclusion depends on the inputs, too"""
    sentences: tuple[str, ...]
    leads: tuple[int, ...]
    """rows that each rule leads; empty where no rows are known"""
    off: tuple[int, ...]
    frozen: tuple[int, ...]
    effect: Effect | None
    agent: bool = False
    """whether it is an agent that decides by these rules, and they are judged by its play"""
    quick: bool = False
    """whether its play takes no longer than an edit"""
    why_not_trained: str = ""
    """why it cannot learn on; empty where it can"""


def drawn_input(base: RuleBase, place: int, rows: Numbers | None) -> DrawnInput:
    """An input of a rule base, over rows in raw units where some are known."""
    variable = base.inputs[place]
    terms = tuple((term.name, term.center, term.width) for term in variable.terms)
    if rows is None:
        ends = [c + side * 2.5 * w for _, c, w in terms for side in (-1, 1)] or [0.0, 1.0]
        return DrawnInput(variable.name, terms, min(ends), max(ends), ())
    values = rows[:, place]
    low, high = float(values.min()), float(values.max())
    if high <= low:
        low, high = low - 0.5, high + 0.5
    counts, _ = np.histogram(values, bins=BARS, range=(low, high))
    return DrawnInput(variable.name, terms, low, high, tuple(int(count) for count in counts))
