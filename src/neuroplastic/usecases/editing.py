"""A table's model with rules turned by hand: the model that computes them, and what that changes on data."""

from __future__ import annotations

import copy
import secrets
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ..errors import ConfigError
from ..learn.estimators import NeuroFuzzyClassifier
from ..learn.table_model import TableModel, usable_rows
from ..rules.building import network_of
from ..rules.rule_base import IGNORED, Linear, RuleBase, Term
from ..rules.true_names import NamedSet
from .edits import Edit, Edited, apply_edits
from .opening import OpenedTable
from .simplifying import check_new_folder


@dataclass(frozen=True)
class Effect:
    """What edits change on rows whose answers are known."""

    measure: str
    rows: int
    before: float
    after: float
    changed: int
    """rows with another prediction"""
    examples: tuple[tuple[int, str, str, str], ...]
    """some of them: number from 1, the true answer, what was and what is said of it"""


EXAMPLES = 8
# Rows that are enough to tell an effect, so that it is told at once.
ENOUGH = 20_000


def edited_model(opened: OpenedTable, edits: Sequence[Edit]) -> TableModel:
    """The model with its rules edited; without edits the model itself."""
    if not edits:
        return opened.model
    edited = edited_rules(opened, edits)
    rules = edited.effective()
    made = copy.deepcopy(opened.model.estimator)
    made.network_ = network_of(_seen(rules, opened), dtype=torch.float64).eval()
    made.network_.freeze(rules=edited.kept_frozen, sets=_kept_sets(rules, edited, opened))
    made.kept_names_ = {
        variable.name: [NamedSet(term.name, term.center, term.width) for term in variable.terms]
        for variable in rules.inputs
        if variable.terms
    }
    made.cases_ = made.shares_ = None  # the rules lead elsewhere
    return TableModel(opened.model.columns, made)


def edited_rules(opened: OpenedTable, edits: Sequence[Edit]) -> Edited:
    """The model's rules after edits; those that were frozen before still are."""
    estimator = opened.model.estimator
    return apply_edits(estimator.rules_, edits, frozen=estimator.network_.frozen[0])


def _kept_sets(rules: RuleBase, edited: Edited, opened: OpenedTable) -> list[tuple[int, int]]:
    """Sets, as (input, term), that learning leaves alone: what frozen rules ask for, and categories."""
    frozen = rules.premises[edited.kept_frozen]
    asked = {(int(d), int(frozen[r, d])) for r, d in np.argwhere(frozen != IGNORED)}
    codes = np.flatnonzero(opened.model.estimator.encoder_.are("code"))
    return sorted(asked | {(int(d), t) for d in codes for t in range(len(rules.inputs[d].terms))})


def _seen(rules: RuleBase, opened: OpenedTable) -> RuleBase:
    """Rules in the units of the table as rules of what the network sees: standardised inputs and targets."""
    estimator = opened.model.estimator
    offset, scale = estimator.offset_, estimator.scale_
    low, size = estimator._output_scaler() or (np.zeros(len(rules.outputs)), np.ones(len(rules.outputs)))
    inputs = tuple(
        replace(
            variable,
            terms=tuple(
                Term(term.name, (term.center - offset[d]) / scale[d], term.width / scale[d])
                for term in variable.terms
            ),
        )
        for d, variable in enumerate(rules.inputs)
    )
    part = rules.consequents
    assert isinstance(part, Linear)
    weight, bias = part.weight, part.bias - low
    if not part.is_constant:
        bias = bias + part.weight @ offset
        weight = part.weight * scale / np.asarray(size)[None, :, None]
    return replace(rules, inputs=inputs, consequents=Linear(weight, bias / size), evidence=None)


def effect_of(opened: OpenedTable, edits: Sequence[Edit], data: str | Path) -> Effect:
    """Predictions of a file's rows before and after the edits, and how many of them are right."""
    model = opened.model
    rows = usable_rows(model.read(data), model.columns).iloc[:ENOUGH]
    true = model.columns.targets(rows).to_numpy()
    before = model.estimator.predict(model.columns.rows(rows))
    after = edited_model(opened, edits).estimator.predict(model.columns.rows(rows))
    name, score = judging(model)
    other = np.flatnonzero(before != after)
    examples = tuple(
        (int(rows.index[k]) + 1, _told(true[k]), _told(before[k]), _told(after[k])) for k in other[:EXAMPLES]
    )
    return Effect(name, len(rows), score(true, before), score(true, after), len(other), examples)


def _told(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, (float, np.floating)) else str(value)


def save_edited(opened: OpenedTable, edits: Sequence[Edit], out: str | Path) -> Path:
    """Write the edited model into a new folder, which appears whole or not at all."""
    if not edits:
        raise ConfigError("nothing was edited; there is no new model to save")
    return save_model(edited_model(opened, edits), out)


def judging(model: TableModel) -> tuple[str, Callable[[Any, Any], float]]:
    """What predictions are judged by: its name, and a function of the true answers and the predictions."""
    from sklearn.metrics import accuracy_score, r2_score

    classes = isinstance(model.estimator, NeuroFuzzyClassifier)
    name, score = ("accuracy", accuracy_score) if classes else ("R²", r2_score)
    return name, lambda true, said: float(score(true, said))


def save_model(model: TableModel, out: str | Path) -> Path:
    """Write a model into a new folder, which appears whole or not at all."""
    path = check_new_folder(out)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.parent / f".{path.name}-new-{secrets.token_hex(4)}"
    try:
        model.save(part)
        part.rename(path)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    return path
