"""From rows of a table to rules with their scores, and from other rows to predictions."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from ..errors import ColumnWarning, ConfigError
from ..learn.estimators import NeuroFuzzyClassifier, NeuroFuzzyRegressor
from ..learn.estimators.looks import Look
from ..learn.estimators.unusual import Unusual
from ..learn.judging.comparison import Comparison
from ..learn.judging.held_out import HeldOut
from ..learn.table_model import TableModel, estimator_for
from ..rules.diagnosis import Diagnosis
from ..rules.rule_base import RuleBase
from .baselines import compare_baselines
from .cross_validation import FoldScores, cross_validate, fold_notes
from .evidence import evidence_on
from .held_out import HeldOutRows
from .preparing import PreparedTable
from .progress import Headway, Listener, nobody
from .requests import FitRequest


@dataclass(frozen=True, eq=False)
class FittedTable:
    """Rules learned from a table: the model of all rows, and how well models of most rows predicted the others."""

    table: PreparedTable
    request: FitRequest
    scores: FoldScores
    held_out: HeldOut
    """what those models said of the others"""
    comparison: Comparison | None
    """plain models on the same folds; None where they were left out"""
    start: RuleBase
    """the rules before training"""
    estimator: NeuroFuzzyClassifier | NeuroFuzzyRegressor

    @cached_property
    def rules(self) -> RuleBase:
        """The rules, in the table's own units, with the rows that each of them leads."""
        rules = self.estimator.rules_
        if rules.evidence is not None:
            return rules
        return replace(rules, evidence=evidence_on(self.estimator, self.table.x, self.table.y))

    @cached_property
    def diagnosis(self) -> Diagnosis:
        """Whether the rules decide, on the rows learned from."""
        return self.estimator.diagnose(self.table.x)

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know about the table, and about how it was cross-validated."""
        return (*self.table.notes, *fold_notes(self.table, self.request.folds))

    @property
    def model(self) -> TableModel:
        """What can be saved, and predicts rows of other files with the same columns."""
        return TableModel(self.table.columns, self.estimator)


def fit_table(
    table: PreparedTable, request: FitRequest | None = None, *, on_progress: Listener = nobody
) -> FittedTable:
    """Cross-validate, then fit to all rows. Nothing is written; what `on_progress` raises ends it."""
    request = FitRequest() if request is None else request
    if request.class_weight is not None and not table.columns.classes:
        raise ConfigError(
            f"class_weight is for classes, but {table.columns.target!r} is a number; leave it out"
        )
    kind, settings = estimator_for(table.columns), _settings(request)

    def learn(x: pd.DataFrame, y: pd.Series, told: Listener) -> Any:
        return kind(**settings).fit(x, y, on_look=_by_looks(told))

    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", ColumnWarning
        )  # the notes have said it, of all rows; folds would again
        folds, seed, rows = request.folds, request.seed, HeldOutRows(table, seed=request.seed)
        scores = cross_validate(table, learn, folds=folds, seed=seed, judge=rows, on_progress=on_progress)
        comparison = None
        if request.baselines:
            comparison = compare_baselines(
                table,
                scores,
                areas=rows.areas,
                folds=folds,
                seed=seed,
                are_short=request.readable,
                on_progress=on_progress,
            )
        start = kind(**settings).start(table.x, table.y).rules_
        model = learn(table.x, table.y, on_progress)
        return FittedTable(table, request, scores, rows.result, comparison, start, model)


def _settings(request: FitRequest) -> dict[str, Any]:
    settings: dict[str, Any] = {"random_state": request.seed, "layer_norm": not request.portable}
    if request.readable:
        settings["readable"] = True
        settings |= {name: getattr(request, name) for name in ("max_rules", "max_premises", "max_size")}
    if request.class_weight is not None:
        settings["class_weight"] = request.class_weight
    return settings if request.rules is None else {**settings, "rules": request.rules}


def _by_looks(on_progress: Listener) -> Callable[[Look], None]:
    """Tells of all trainings of a fit as one stage. One that stops early, and the last, shorter one, make it jump."""
    longest = 1

    def tell(look: Look) -> None:
        nonlocal longest
        longest = max(longest, look.updates)
        total = look.trainings * longest
        last = look.training == look.trainings
        done = total - look.updates + look.update if last else (look.training - 1) * longest + look.update
        on_progress(Headway("fitting", done, total, "update", f"loss {look.loss:.4f}, {look.born} sets born"))

    return tell


@dataclass(frozen=True, eq=False)
class Predictions:
    """What a model predicts of the rows of a file: the target and, of classes, the probability of each."""

    target: str
    rows: pd.DataFrame
    unusual: Unusual
    """what these rows have that those of training had not"""

    def csv(self, *, notes: bool = False) -> str:
        """The predictions as a table of text, with `notes` on what is unusual about each row in a last column."""
        rows = _with_notes(self.rows, self.unusual) if notes else self.rows
        text: str = rows.to_csv(index=False)
        return text


def _with_notes(rows: pd.DataFrame, unusual: Unusual) -> pd.DataFrame:
    name = "note" if "note" not in rows.columns else "note on the row"
    return rows.assign(**{name: unusual.notes()})


def predictions_beside(model: TableModel, data: str | Path) -> pd.DataFrame:
    """The rows of a file as they are, beside them what the model predicts, and a note on what is unusual of each."""
    rows = model.read(data)
    made = _predicted(model, rows)
    names = [f"predicted {name}" if name == made.target else name for name in made.rows.columns]
    free = [name if name not in rows.columns else f"{name} (predicted)" for name in names]
    return _with_notes(pd.concat([rows, made.rows.set_axis(free, axis=1)], axis=1), made.unusual)


def predict_table(model: TableModel, data: str | Path) -> Predictions:
    """Predict every row of a file that has the model's columns, and find what is unusual about them."""
    return _predicted(model, model.read(data))


def _predicted(model: TableModel, rows: pd.DataFrame) -> Predictions:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnWarning)  # what is unusual says it of all columns at once
        predicted = model.predict(rows)
    return Predictions(model.columns.target, predicted, model.unusual(rows))
