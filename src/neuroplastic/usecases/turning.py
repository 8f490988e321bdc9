"""A rule base as a page draws it: sets over the data's histogram, premises, sentences, the rows that rules lead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..rules.explanations.scoring import Scoring
from ..rules.rule_base import Linear, Numbers, RuleBase
from ..rules.text.plain import plain_sentences
from .editing import Edit, Edited, Effect, apply_edits, effect_of
from .opening import OpenedTable

BARS = 24
ENOUGH = 5_000


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
    effect: Effect | None


def drawn_rules(opened: OpenedTable, edits: Sequence[Edit], data: str | Path | None = None) -> DrawnRules:
    """The rules of a model after edits; with a file of rows also its values and what the edits change on them."""
    original = opened.model.estimator.rules_
    edited = apply_edits(original, edits)
    rows: Numbers | None = None
    if data is not None:
        frame = opened.model.read(data).iloc[:ENOUGH]
        rows = opened.model.estimator.encode(opened.model.columns.rows(frame))
    base = edited.base
    assert isinstance(base.consequents, Linear)
    sentences = dict(plain_sentences(base))
    return DrawnRules(
        tuple(_input(base, d, rows) for d in range(len(base.inputs))),
        tuple(variable.name for variable in base.outputs),
        base.classes,
        tuple(tuple(row) for row in base.premises.tolist()),
        tuple(tuple(row) for row in base.consequents.bias.tolist()),
        not base.consequents.is_constant,
        tuple(sentences[number] for number in range(1, len(base) + 1)),
        () if rows is None else _leads(edited, rows),
        tuple(sorted(edited.off)),
        None if data is None else effect_of(opened, edits, data),
    )


def _input(base: RuleBase, place: int, rows: Numbers | None) -> DrawnInput:
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


def _leads(edited: Edited, rows: Numbers) -> tuple[int, ...]:
    """How many rows each rule fires most on; none where it is off."""
    on = [rule for rule in range(len(edited.base)) if rule not in edited.off]
    scoring = Scoring.of(edited.effective())
    counts = np.zeros(len(edited.base), np.int64)
    leaders = scoring.scores(scoring.log_firing(rows)).argmax(axis=1)
    counts[on] = np.bincount(leaders, minlength=len(on))
    return tuple(int(count) for count in counts)
