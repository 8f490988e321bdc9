"""Studies as a page shows them: how far they are, their trials and best ones, which hyperparameters matter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..analysis.enough import TO_WEIGH, need_trials
from ..analysis.errors import AnalysisError
from ..analysis.importance import PED, importances
from ..analysis.studies import load_studies
from ..analysis.study_table import StudyTable

MOST_TRIALS = 1000


@dataclass(frozen=True)
class ViewedTrial:
    """A finished trial."""

    number: int
    mean: float
    sd: float
    parameters: Mapping[str, float | int | str | bool | None]


@dataclass(frozen=True)
class StudyView:
    """A study."""

    name: str
    task: str
    agent: str
    states: Mapping[str, int]
    """trials by their state"""
    parameters: tuple[str, ...]
    trials: tuple[ViewedTrial, ...]
    """finished ones, the best first"""
    importance: Mapping[str, float]
    """share of each hyperparameter in what tells the best tenth from all; empty where that cannot be told"""
    note: str
    """why not"""


def view_studies(source: str | Path) -> list[StudyView]:
    """All studies at a source: a storage, a study's .csv or .json, or a folder of those."""
    return [_view(table) for table in load_studies(source)]


def _view(table: StudyTable) -> StudyView:
    states: dict[str, int] = {}
    for trial in table.trials:
        states[trial.state.lower()] = states.get(trial.state.lower(), 0) + 1
    best = sorted(table.finished, key=lambda trial: -(trial.mean or 0.0))
    shown = tuple(
        ViewedTrial(trial.number, float(trial.mean or 0.0), float(trial.sd or 0.0), dict(trial.parameters))
        for trial in best[:MOST_TRIALS]
    )
    found: Mapping[str, float] = {}
    note = ""
    try:
        need_trials(table, TO_WEIGH, "importances")
        found = importances(table, PED)
    except AnalysisError as error:
        note = str(error)
    ranked = dict(sorted(found.items(), key=lambda entry: -entry[1]))
    return StudyView(table.name, table.task, table.agent, states, table.parameters, shown, ranked, note)
