"""Why a model answers a row as it does, for a person: the row, the answer beside the truth, the rules behind it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..learn.estimators import NeuroFuzzyClassifier
from ..rules.text.plain import number, plain_sentences
from .explaining import explain_row
from .opening import OpenedTable

RULES_SHOWN = 5
# Rules that fire less than this are counted only.
LEAST = 0.01


@dataclass(frozen=True)
class RuleBehind:
    """A rule that fired: its number from 1, how strongly, what it says, and whether it is for the answer."""

    number: int
    share: float
    sentence: str
    agrees: bool


@dataclass(frozen=True)
class ToldRow:
    """A row of a file, what a model says of it, and why."""

    row: tuple[tuple[str, str], ...]
    """columns that the model uses, and their values"""
    says: str
    probability: float | None
    """of a class; None where a number is told"""
    truth: str | None
    """None where the file does not say"""
    right: bool | None
    """None where the truth is not known, or a number"""
    rules: tuple[RuleBehind, ...]
    fired: int
    text: str
    """the whole explanation in numbers"""


def tell_row(opened: OpenedTable, data: str | Path, *, row: int = 1) -> ToldRow:
    """Tell of one row of a file, by its number from 1."""
    explained = explain_row(opened, data, number=row)
    columns, estimator = opened.model.columns, opened.model.estimator
    given, case = explained.row, explained.explanation[0]
    inputs = columns.rows(given)
    probability, column = None, 0
    if isinstance(estimator, NeuroFuzzyClassifier):
        chances = estimator.predict_proba(inputs)[0]
        column = int(chances.argmax())
        probability, says = float(chances[column]), str(estimator.classes_[column])
    else:
        says = _shown(estimator.predict(inputs)[0])
    target = given.iloc[0].get(columns.target)
    truth = None if target is None or target != target else _shown(target)
    sentences = dict(plain_sentences(case.rules))
    best = (case.shares - case.shares.mean(axis=1, keepdims=True)).argmax(axis=1)
    shown = [k for k in range(min(RULES_SHOWN, len(case.fired))) if k == 0 or case.firing[k] >= LEAST]
    rules = tuple(
        RuleBehind(
            int(case.fired[k]) + 1,
            float(case.firing[k]),
            sentences[int(case.fired[k]) + 1],
            probability is None or int(best[k]) == column,
        )
        for k in shown
    )
    return ToldRow(
        tuple((name, _shown(given.iloc[0][name])) for name in columns.inputs),
        says,
        probability,
        truth,
        None if truth is None or probability is None else truth == says,
        rules,
        len(case.fired),
        explained.text,
    )


def _shown(value: Any) -> str:
    if value is None or value != value:
        return "missing"
    if isinstance(value, (float, np.floating)):
        return number(float(value), 4)
    return str(value)
