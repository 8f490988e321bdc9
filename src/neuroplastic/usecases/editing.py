"""Rules turned by hand: edits of a rule base, the model that computes them, and what that changes on data.

Edits are applied to the original one after the other: without the last of them everything is as it was before, to the
bit. Sets, inputs, outputs and rules are named by their places in the original, rules that were added come after.
"""

from __future__ import annotations

import copy
import secrets
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import torch

from ..errors import ConfigError, InputError
from ..learn.estimators import NeuroFuzzyClassifier
from ..learn.table_model import TableModel
from ..rules.building import network_of
from ..rules.rule_base import Linear, RuleBase, Term
from ..rules.true_names import NamedSet
from .opening import OpenedTable
from .rule_in_words import with_rows, with_rule
from .simplifying import check_new_folder


@dataclass(frozen=True)
class MoveSet:
    """Another centre and width of a set, which all rules share."""

    input: int
    term: int
    center: float
    width: float


@dataclass(frozen=True)
class SetPremise:
    """Another set that a rule asks an input for; -1 lets it ignore the input."""

    rule: int
    input: int
    term: int


@dataclass(frozen=True)
class SetConclusion:
    """Another number that a rule concludes."""

    rule: int
    output: int
    value: float


@dataclass(frozen=True)
class SwitchRule:
    """A rule that counts, or does not."""

    rule: int
    on: bool


@dataclass(frozen=True)
class AddRule:
    """A rule in words: `IF petal length is low AND petal width is high THEN setosa`, or `... THEN price is 3.5`."""

    text: str


Edit = MoveSet | SetPremise | SetConclusion | SwitchRule | AddRule


@dataclass(frozen=True, eq=False)
class Edited:
    """A rule base after edits; rules that are off are still in it."""

    base: RuleBase
    off: frozenset[int] = field(default_factory=frozenset)

    def effective(self) -> RuleBase:
        """The rules that count."""
        if not self.off:
            return self.base
        kept = [rule for rule in range(len(self.base)) if rule not in self.off]
        if not kept:
            raise InputError("all rules are off; leave one on")
        return with_rows(self.base, kept)


def apply_edits(base: RuleBase, edits: Sequence[Edit]) -> Edited:
    """The rule base after the edits; its evidence goes with the first, for it says what the rules were."""
    if not isinstance(base.consequents, Linear):
        raise InputError("rules that conclude sets cannot be edited here; export them as text, and edit that")
    edited = Edited(base)
    for edit in edits:
        edited = _applied(edited, edit)
    return edited


def _applied(edited: Edited, edit: Edit) -> Edited:
    base = replace(edited.base, evidence=None)
    assert isinstance(base.consequents, Linear)
    rules, inputs, outputs = len(base), len(base.inputs), len(base.outputs)
    if isinstance(edit, SwitchRule):
        _within("rule", edit.rule, rules)
        off = edited.off - {edit.rule} if edit.on else edited.off | {edit.rule}
        return Edited(base, off)
    if isinstance(edit, MoveSet):
        _within("input", edit.input, inputs)
        variable = base.inputs[edit.input]
        _within("term", edit.term, len(variable.terms))
        terms = list(variable.terms)
        terms[edit.term] = Term(terms[edit.term].name, float(edit.center), float(edit.width))
        moved = replace(variable, terms=tuple(terms))
        named = tuple(moved if place == edit.input else one for place, one in enumerate(base.inputs))
        return Edited(replace(base, inputs=named), edited.off)
    if isinstance(edit, SetPremise):
        _within("rule", edit.rule, rules)
        _within("input", edit.input, inputs)
        _within("term", edit.term + 1, len(base.inputs[edit.input].terms) + 1)
        premises = base.premises.copy()
        premises[edit.rule, edit.input] = edit.term
        return Edited(replace(base, premises=premises), edited.off)
    if isinstance(edit, SetConclusion):
        _within("rule", edit.rule, rules)
        _within("output", edit.output, outputs)
        bias = base.consequents.bias.copy()
        bias[edit.rule, edit.output] = edit.value
        return Edited(replace(base, consequents=replace(base.consequents, bias=bias)), edited.off)
    return Edited(with_rule(base, edit.text), edited.off)


def _within(name: str, value: int, count: int) -> None:
    if not 0 <= value < count:
        raise InputError(f"{name} must be one of the {count} there are, counted from 0, got {value}")


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
    old = opened.model.estimator
    rules = apply_edits(old.rules_, edits).effective()
    made = copy.deepcopy(old)
    made.network_ = network_of(_seen(rules, opened), dtype=torch.float64).eval()
    made.kept_names_ = {
        variable.name: [NamedSet(term.name, term.center, term.width) for term in variable.terms]
        for variable in rules.inputs
        if variable.terms
    }
    made.cases_ = made.shares_ = None  # the rules lead elsewhere
    return TableModel(opened.model.columns, made)


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
    from sklearn.metrics import accuracy_score, r2_score

    from ..learn.table_model import usable_rows

    model = opened.model
    rows = usable_rows(model.read(data), model.columns).iloc[:ENOUGH]
    true = model.columns.targets(rows).to_numpy()
    before = model.estimator.predict(model.columns.rows(rows))
    after = edited_model(opened, edits).estimator.predict(model.columns.rows(rows))
    classes = isinstance(model.estimator, NeuroFuzzyClassifier)
    score = accuracy_score if classes else r2_score
    other = np.flatnonzero(before != after)
    examples = tuple(
        (int(rows.index[k]) + 1, _told(true[k]), _told(before[k]), _told(after[k])) for k in other[:EXAMPLES]
    )
    name = "accuracy" if classes else "R²"
    return Effect(
        name, len(rows), float(score(true, before)), float(score(true, after)), len(other), examples
    )


def _told(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, (float, np.floating)) else str(value)


def save_edited(opened: OpenedTable, edits: Sequence[Edit], out: str | Path) -> Path:
    """Write the edited model into a new folder, which appears whole or not at all."""
    if not edits:
        raise ConfigError("nothing was edited; there is no new model to save")
    path = check_new_folder(out)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.parent / f".{path.name}-new-{secrets.token_hex(4)}"
    try:
        edited_model(opened, edits).save(part)
        part.rename(path)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    return path
