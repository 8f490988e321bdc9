"""A saved model of a table made simpler: fewer rules, sets and premises, within a change of the outputs."""

from __future__ import annotations

import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..errors import ConfigError
from ..learn.estimators import NeuroFuzzyClassifier, NeuroFuzzyRegressor
from ..learn.estimators.encoding import Column
from ..learn.table_model import TableModel
from ..rules.rule_base import RuleBase
from .evidence import evidence_on

if TYPE_CHECKING:
    from ..rules.simplification.report import SimplificationReport

TOLERANCE = 0.1
"""Largest change of an output that is allowed unless another is asked for, in its standard deviations."""
DRAWN = 2000
"""Rows that are drawn where none are given."""


@dataclass(frozen=True, eq=False)
class SimplifiedTable:
    """A simpler model of the same columns, and what that changes."""

    model: TableModel
    report: SimplificationReport
    agreement: float
    """share of the rows of which the same class is predicted; of numbers the squared correlation"""
    drawn: bool
    """whether the rows were drawn, for none were given"""

    @property
    def rules(self) -> RuleBase:
        """The rules that are left, in the table's own units."""
        return self.model.estimator.rules_

    def lines(self) -> list[str]:
        """What it changes, for people to read."""
        rows = f"{self.report.rows} rows"
        if self.drawn:
            rows += (
                ", each column drawn by itself as it was in training: give --data FILE to measure on your own"
            )
        if isinstance(self.model.estimator, NeuroFuzzyClassifier):
            return [f"The same class in {100 * self.agreement:.1f} % of {rows}."]
        return [f"Old and new numbers have a squared correlation of {self.agreement:.4f} on {rows}."]


def simplify_table(
    model: TableModel, data: str | Path | None = None, *, tolerance: float = TOLERANCE, seed: int = 0
) -> SimplifiedTable:
    """Simplify on the rows of a file, or on rows drawn one column at a time where none is given.

    The cases behind each rule of a readable model are those of the file, where it has the target; else they are gone.
    """
    if not tolerance > 0:
        raise ConfigError(f"tolerance must be a number above 0, got {tolerance!r}")
    frame = None if data is None else model.read(data)
    if frame is None:
        rows = drawn_rows(model.estimator, DRAWN, np.random.default_rng(seed))
    else:
        rows = model.columns.rows(frame)
    simpler, report = model.estimator.simplify(rows, tolerance)
    before, after = model.estimator.predict(rows), simpler.predict(rows)
    if isinstance(simpler, NeuroFuzzyClassifier):
        agreement = float(np.mean(before == after))
    else:
        agreement = _squared_correlation(before, after)
    if frame is not None and model.estimator.evidence_ is not None and model.columns.target in frame:
        known = frame[frame[model.columns.target].notna()]
        found = evidence_on(simpler, model.columns.rows(known), model.columns.targets(known))
        simpler.cases_, simpler.shares_ = found.cases.copy(), found.shares.copy()
    return SimplifiedTable(TableModel(model.columns, simpler), report, agreement, data is None)


def drawn_rows(
    estimator: NeuroFuzzyClassifier | NeuroFuzzyRegressor, count: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Rows as a table holds them, each column by itself: numbers by their mean, deviation and ends in training."""
    made: dict[str, object] = {column.name: np.zeros(count) for column in estimator.columns_}
    places: dict[Column, list[int]] = {}
    for place, given in enumerate(estimator.encoder_.inputs):
        if given.role != "code":
            places.setdefault(given.column, []).append(place)
    for _, column in estimator.encoder_.used:
        own = places.get(column, [])
        if column.kind == "category":
            shares = np.clip(estimator.offset_[own], 0, None) if own else np.ones(len(column.categories))
            made[column.name] = rng.choice(
                np.array(column.categories, dtype=object), count, p=_shares(shares)
            )
            continue
        values = rng.normal(estimator.offset_[own[0]], estimator.scale_[own[0]], count)
        if estimator.limits_ is not None:
            values = values.clip(*estimator.limits_[:, own[0]])
        if column.origin is not None:
            values = pd.Timestamp(column.origin) + pd.to_timedelta(values, unit="D")
        made[column.name] = values
    return pd.DataFrame(made)


def _shares(weights: np.ndarray) -> np.ndarray:
    return weights / weights.sum() if weights.sum() > 0 else np.full(len(weights), 1 / len(weights))


def _squared_correlation(before: np.ndarray, after: np.ndarray) -> float:
    if np.ptp(before) == 0 or np.ptp(after) == 0:
        return float(np.array_equal(before, after))
    return float(np.corrcoef(before.ravel(), after.ravel())[0, 1] ** 2)


def check_new_folder(out: str | Path) -> Path:
    """The path if a model may be written there, else a ConfigError: nothing is written over."""
    path = Path(out)
    if path.is_symlink() or (path.exists() and (not path.is_dir() or any(path.iterdir()))):
        raise ConfigError(f"{path} exists and is not overwritten; choose another --out")
    return path


def save_simplified(made: SimplifiedTable, out: str | Path) -> Path:
    """Write the simpler model into a new folder, which appears whole or not at all."""
    path = check_new_folder(out)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.parent / f".{path.name}-new-{secrets.token_hex(4)}"
    try:
        made.model.save(part)
        part.rename(path)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    return path
