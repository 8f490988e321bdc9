"""What rows to predict have that the rows of training had not: values beyond their ends, gaps, new categories."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...rules.rule_base import IGNORED, Linear
from ..values import as_numbers, words_of
from .encoding import MISSING, UNKNOWN, Column, days_since
from .rows import Numbers

if TYPE_CHECKING:
    from .fitted import FittedRules

What = Literal["outside the range of training", "missing", "a category never seen in training"]

# Findings that a summary names, and categories that a finding does.
MOST_NAMED, MOST_CATEGORIES = 4, 3


@dataclass(frozen=True, eq=False)
class Finding:
    """What is unusual about a column of some rows."""

    column: str
    what: What
    rows: NDArray[np.bool_]
    """(N,): in which rows"""
    detail: str
    """the range, what is taken instead, or the categories"""

    def __str__(self) -> str:
        return f"{self.column!r} is {self.what} in {_count(self.rows)} ({self.detail})"


@dataclass(frozen=True, eq=False)
class Unusual:
    """What is unusual about rows, by column; `print` tells it in one line, which is empty where nothing is."""

    findings: tuple[Finding, ...]
    among: int
    """how many rows were looked at"""

    @property
    def rows(self) -> NDArray[np.bool_]:
        """(N,): whether something is unusual about a row."""
        found = np.zeros(self.among, dtype=np.bool_)
        for finding in self.findings:
            found |= finding.rows
        return found

    def notes(self) -> list[str]:
        """What is unusual about each row, empty where nothing is: `age is outside the range of training (17 to 90)`."""
        told: list[list[str]] = [[] for _ in range(self.among)]
        for finding in self.findings:
            detail = "" if finding.what == "a category never seen in training" else f" ({finding.detail})"
            for row in np.flatnonzero(finding.rows).tolist():
                told[row].append(f"{finding.column} is {finding.what}{detail}")
        return ["; ".join(notes) for notes in told]

    def __str__(self) -> str:
        if not self.findings:
            return ""
        ordered = sorted(self.findings, key=lambda finding: -int(finding.rows.sum()))
        more = len(ordered) - MOST_NAMED
        rest = f", and {more} more" if more > 0 else ""
        return (
            f"{_count(self.rows)} of {self.among} unlike those of training: "
            f"{', '.join(map(str, ordered[:MOST_NAMED]))}{rest}"
        )


def find_unusual(model: FittedRules, X: Any) -> Unusual:
    """What is unusual about X (N, D), a table as `read` gives it, in the columns that the model's answers depend on."""
    encoder, used = model.encoder_, _used(model)
    found: list[Finding] = []
    for place, column in encoder.used:
        inputs = [k for k, given in enumerate(encoder.inputs) if given.column is column]
        if not used[inputs].any():
            continue
        values = X[:, place] if isinstance(X, np.ndarray) else X.iloc[:, place]
        if column.kind == "category":
            found += _category(column, pd.Series(values))
        else:
            found += _number(column, values, None if model.limits_ is None else model.limits_[:, inputs[0]])
    return Unusual(tuple(finding for finding in found if finding.rows.any()), len(X))


def _used(model: FittedRules) -> NDArray[np.bool_]:
    """The inputs that answers depend on, (D,): those that some rule asks for; all where THEN parts are formulas."""
    rules = model.rules_
    if isinstance(rules.consequents, Linear) and not rules.consequents.is_constant:
        return np.ones(len(rules.inputs), dtype=np.bool_)
    return np.asarray((rules.premises != IGNORED).any(axis=0))


def _number(column: Column, values: Any, ends: Numbers | None) -> Iterator[Finding]:
    numbers = days_since(column, values) if column.kind == "date" else as_numbers(column.name, values)
    if ends is not None:  # files of version 0.1 do not know them
        outside = (numbers < ends[0]) | (numbers > ends[1])
        detail = f"{_shown(column, ends[0])} to {_shown(column, ends[1])}"
        yield Finding(column.name, "outside the range of training", outside, detail)
    if column.fill is not None:
        detail = f"taken as {_shown(column, float(column.fill))}"
        yield Finding(column.name, "missing", np.isnan(numbers), detail)


def _category(column: Column, values: pd.Series) -> Iterator[Finding]:
    missing = words_of(values)[0] < 0
    places, unseen = column.looked_up(values)
    named = ", ".join(map(repr, list(unseen)[:MOST_CATEGORIES]))
    more = f" and {len(unseen) - MOST_CATEGORIES} more" if len(unseen) > MOST_CATEGORIES else ""
    strange = (places == UNKNOWN) & ~missing
    yield Finding(column.name, "a category never seen in training", strange, named + more)
    if MISSING not in column.categories:  # else it is a category as good as the others
        taken = "none of the known" if column.fill is None else repr(column.fill)
        yield Finding(column.name, "missing", missing, f"taken as {taken}")


def _shown(column: Column, number: float) -> str:
    if column.kind != "date":
        return f"{number:.6g}"
    return str((pd.Timestamp(column.origin) + pd.Timedelta(days=number)).date())


def _count(rows: NDArray[np.bool_]) -> str:
    return "1 row" if rows.sum() == 1 else f"{int(rows.sum())} rows"
