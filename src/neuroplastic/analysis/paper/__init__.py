"""The printed tables of the paper, as text, so that every printed digit is kept.

Source: J. W. Hostetter, M. Chi, "Gradient-Based Neuroplastic Adaptation for the Concurrent Optimization of
Neuro-Fuzzy Networks", section "Experimental Results". Files and where they stand in the paper:

- dnn_best.csv, nfn_best.csv: "Best trials' hyperparameters for DNNs" and "... for concurrent optimization of NFNs"
- importances.csv: "Hyperparameter importance for concurrently optimizing NFNs in DOOM tasks"
- agreement.csv: "Hyperparameters' rankings and importance ..."; row `all` is the text below the table of medoids
- medoids.csv: "Medoids of best hyperparameters ..."; `highlighted` names what is highlighted there
- comparisons.csv: F, t, p and d of the text, task by task
- mean_importances.csv: PED-ANOVA importances averaged over tasks, of the text
- merges.csv: heights at which the dendrogram's groups merge, of the text

Learning rates, printed in units of 1e-4 for NFNs, are written out; the names are this library's.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from ..errors import StudyError
from ..gower import Value, value_of
from ..samples import Sample

TASKS = ("BP", "BR", "PP", "HTL", "DTC", "TC", "GH")
EPISODES = 25
"""Evaluation episodes behind every mean and SD."""


@dataclass(frozen=True)
class Printed:
    """A number as printed: '.0198', '<.0001' or '2100'."""

    text: str

    @property
    def number(self) -> float:
        """Its value, that of the bound where one is printed."""
        return float(self.text.lstrip("<="))

    @property
    def decimals(self) -> int:
        """Digits after the point."""
        return len(self.text.partition(".")[2])

    def equals(self, value: float) -> bool:
        """Whether `value`, rounded to the printed digits, is what is printed (or is below a printed bound)."""
        if self.text.startswith("<="):
            return value <= self.number
        if self.text.startswith("<"):
            return value < self.number
        return abs(round(value, self.decimals) - self.number) < 10.0 ** -(self.decimals + 3)


@dataclass(frozen=True)
class PrintedTrial:
    """A row of a table of hyperparameters; a dash (tau and N of STE) is None."""

    task: str
    parameters: MappingProxyType[str, Value]
    score: Sample
    slope: float | None
    support: int | None = None
    highlighted: tuple[str, ...] = ()


@cache
def printed(name: str) -> tuple[MappingProxyType[str, str], ...]:
    """The rows of one file, text by column."""
    file = files(__package__).joinpath(f"{name}.csv")
    if not file.is_file():
        raise StudyError(f"the paper has no table {name!r}")
    lines = file.read_text(encoding="utf-8").splitlines()
    return tuple(MappingProxyType(row) for row in csv.DictReader(lines))


def best_trials(agent: str) -> dict[str, PrintedTrial]:
    """The best trial of 'dnn' or 'nfn' for each task."""
    return {row["task"]: _trial(row) for row in printed(f"{agent}_best")}


def medoids() -> dict[str, PrintedTrial]:
    """The medoid of the best cluster of NFN trials for each task."""
    return {row["task"]: _trial(row) for row in printed("medoids")}


def importances() -> dict[str, dict[str, dict[str, float]]]:
    """Importance by task, evaluator ('fANOVA', 'MDI', 'PED-ANOVA') and hyperparameter."""
    table: dict[str, dict[str, dict[str, float]]] = {}
    for row in printed("importances"):
        shares = {name: float(text) for name, text in row.items() if name not in ("task", "evaluator")}
        table.setdefault(row["task"], {})[row["evaluator"]] = shares
    return table


_NOT_PARAMETERS = ("task", "mean", "sd", "slope", "support", "highlighted")


def _trial(row: MappingProxyType[str, str]) -> PrintedTrial:
    return PrintedTrial(
        row["task"],
        MappingProxyType({name: _value(text) for name, text in row.items() if name not in _NOT_PARAMETERS}),
        Sample(float(row["mean"]), float(row["sd"]), EPISODES),
        float(row["slope"]) if "slope" in row else None,
        int(row["support"]) if "support" in row else None,
        tuple(row.get("highlighted", "").split()),
    )


def _value(text: str) -> Value:
    if text in ("T", "F"):
        return text == "T"
    return None if text == "-" else value_of(text)
