"""The report of one's own studies: every table and figure of the paper that they allow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np

from ..analysis import agreement
from ..analysis.best import best_trial
from ..analysis.clustering import Cluster, clusters
from ..analysis.comparison import Comparison, compare
from ..analysis.dendrogram import upgma
from ..analysis.enough import TO_CHOOSE, TO_WEIGH, need_trials
from ..analysis.errors import AnalysisError, StudyError, TooFewError
from ..analysis.gower import gower_distances
from ..analysis.importance import EVALUATORS, PED, importances, leading, mean_importances
from ..analysis.study_table import StudyTable, TrialRow
from .document import Cell, Figure, Report, Section, Table
from .drawing import dendrogram_figure, learning_curves
from .tables import (
    Agreement,
    Chosen,
    agreement_table,
    best_table,
    comparison_table,
    importance_table,
    medoid_table,
    ordered,
)

AGENTS = ("dnn", "nfn")
T = TypeVar("T")


@dataclass(frozen=True)
class Analysed:
    """One study with all that could be found out about it; None where its trials do not allow it."""

    table: StudyTable
    best: TrialRow
    shares: Mapping[str, Mapping[str, float]] | None
    medoid: tuple[TrialRow, Cluster] | None
    notes: tuple[str, ...]


def study_report(
    tables: Sequence[StudyTable],
    firing: Section | None = None,
    *,
    progress: Callable[[str], None] = lambda _: None,
) -> Report:
    """The whole report of studies, one for each task and agent; a statistic that cannot be made is named in a note.

    `progress` is told of every study before its analysis, which takes some seconds.
    Two studies of the same task and agent, or no finished trial at all, raise StudyError.
    """
    _one_each(tables)
    studies = []
    for table in tables:
        if table.finished:
            progress(f"{table.name}: {len(table.finished)} finished trials")
            studies.append(_analysed(table))
    idle = [table.name for table in tables if not table.finished]
    if not studies:
        raise StudyError(f"no study has a finished trial: {', '.join(idle) or 'none was given'}")
    by_agent = {
        agent: _by_task(studies, agent)
        for agent in (*AGENTS, *sorted({s.table.agent for s in studies} - set(AGENTS)))
    }
    by_agent = {agent: found for agent, found in by_agent.items() if found}
    sections = [
        _studies(studies, idle),
        _best(by_agent),
        _comparisons(by_agent),
        *(part for agent, found in by_agent.items() for part in _synthesis(agent, found)),
        _curves(by_agent),
    ]
    protocols = sorted({study.table.protocol or "not stated" for study in studies})
    return Report(
        "Studies of neuro-fuzzy and plain agents",
        (
            f"{len(studies)} studies, {sum(len(s.table.finished) for s in studies)} finished trials.",
            f"Protocol: {'; '.join(protocols)}.",
            *(
                ("Studies differ in protocol: compare their numbers with care.",)
                if len(protocols) > 1
                else ()
            ),
        ),
        (*sections, firing) if firing is not None else tuple(sections),
    )


def _one_each(tables: Sequence[StudyTable]) -> None:
    seen: dict[tuple[str, str], str] = {}
    for table in tables:
        key = (table.task, table.agent)
        if key in seen:
            raise StudyError(
                f"{seen[key]!r} and {table.name!r} are both studies of {table.agent} on {table.task}; "
                "a report takes one of each"
            )
        seen[key] = table.name


def _analysed(table: StudyTable) -> Analysed:
    notes: list[str] = []
    shares = _tried(lambda: _shares(table), notes, table.name)
    found = _tried(lambda: _medoid(table, shares), notes, table.name) if shares else None
    return Analysed(table, best_trial(table.finished), shares, found, tuple(notes))


def _shares(table: StudyTable) -> dict[str, dict[str, float]]:
    need_trials(table, TO_WEIGH, "importances, agreement and medoids")
    return {name: importances(table, name) for name in EVALUATORS}


def _tried(make: Callable[[], T], notes: list[str], name: str) -> T | None:
    """What `make` gives, or None and a note where the data do not allow it."""
    try:
        return make()
    except AnalysisError as error:
        notes.append(f"{name}: {error}")
        return None


def _medoid(table: StudyTable, shares: Mapping[str, Mapping[str, float]]) -> tuple[TrialRow, Cluster]:
    distances = gower_distances(table.rows(), weights=shares[PED])
    found = clusters(distances, [trial.score for trial in table.finished])
    if not found:
        raise TooFewError(f"OPTICS finds no cluster among {len(table.finished)} trials")
    return table.finished[found[0].medoid], found[0]


def _by_task(studies: Sequence[Analysed], agent: str) -> dict[str, Analysed]:
    own = {study.table.task: study for study in studies if study.table.agent == agent}
    return {task: own[task] for task in ordered(own)}


def _studies(studies: Sequence[Analysed], idle: Sequence[str]) -> Section:
    rows = []
    tasks = ordered({study.table.task for study in studies})
    for study in sorted(studies, key=lambda s: (tasks.index(s.table.task), s.table.agent)):
        table = study.table
        rows.append(
            (
                Cell(table.name),
                Cell(table.task),
                Cell(table.agent.upper()),
                Cell(str(len(table.trials))),
                Cell(str(len(table.finished))),
                Cell(table.space),
                Cell(str(study.best.number)),
            )
        )
    shown = Table(
        "studies",
        "The studies of this report.",
        "Trials begun and finished; only finished ones count below. In a flat space every trial has a value for every "
        "hyperparameter, whether it has an effect or not. Best: the number of the trial with the greatest mean, near "
        "ties decided by a rising trend and then the least SD.",
        ("Study", "Task", "Agent", "Trials", "Finished", "Space", "Best"),
        tuple(rows),
    )
    return Section(
        "Studies", (shown,), tuple(f"{name} has no finished trial and is left out." for name in idle)
    )


def _chosen_best(found: Mapping[str, Analysed]) -> dict[str, Chosen]:
    return {
        task: Chosen(
            {name: study.best.parameters.get(name) for name in study.table.parameters},
            study.best.score,
            study.best.slope,
        )
        for task, study in found.items()
    }


def _best(by_agent: Mapping[str, Mapping[str, Analysed]]) -> Section:
    rivals = {"dnn": "nfn", "nfn": "dnn"}
    # Of too few trials the best is anyone's: nothing is said to beat the other agent's then.
    enough = {
        agent: {task: study for task, study in found.items() if len(study.table.finished) >= TO_CHOOSE}
        for agent, found in by_agent.items()
    }
    tables = [
        best_table(
            agent,
            _chosen_best(found),
            {
                task: chosen
                for task, chosen in _chosen_best(enough.get(rivals.get(agent, ""), {})).items()
                if task in enough[agent]
            },
        )
        for agent, found in by_agent.items()
    ]
    few = [
        f"{study.table.name} has {len(study.table.finished)} finished trials: from {TO_CHOOSE} on the best of them is "
        "likely (.95) among the best tenth of the space."
        for found in by_agent.values()
        for study in found.values()
        if len(study.table.finished) < TO_CHOOSE
    ]
    return Section("Best hyperparameters", tuple(tables), tuple(few))


def _comparisons(by_agent: Mapping[str, Mapping[str, Analysed]]) -> Section:
    dnn, nfn = (by_agent.get(agent, {}) for agent in AGENTS)
    notes: list[str] = []
    found: dict[str, Comparison] = {}
    for task in ordered(set(dnn) & set(nfn)):
        made = _tried(partial(_compared, dnn[task], nfn[task]), notes, task)
        if made is not None:
            found[task] = made
    if not set(dnn) & set(nfn):
        notes.append("No task has a study of both kinds of agent: there is nothing to compare.")
    return Section("Comparisons with tests", (comparison_table(found),) if found else (), tuple(notes))


def _compared(dnn: Analysed, nfn: Analysed) -> Comparison:
    for study in (dnn, nfn):
        need_trials(study.table, TO_CHOOSE, "comparisons of best trials")
    return compare(dnn.best.score, nfn.best.score)


def _synthesis(agent: str, found: Mapping[str, Analysed]) -> list[Section]:
    """Importances, agreement, medoids and dendrogram of one kind of agent."""
    name = agent.upper()
    notes = tuple(note for study in found.values() for note in study.notes)
    shares = {task: study.shares for task, study in found.items() if study.shares is not None}
    medoids = {task: study.medoid for task, study in found.items() if study.medoid is not None}
    agreed: list[str] = []
    rows = _agreement(shares, agreed)
    tree: list[Figure] = []
    grown: list[str] = []
    drawn = _tried(lambda: _tree(agent, shares, medoids), grown, "Dendrogram")
    if drawn is not None:
        tree.append(drawn)
    chosen = {task: _chosen_medoid(found[task], *pair) for task, pair in medoids.items()}
    return [
        Section(
            f"Importance of hyperparameters, {name}",
            (importance_table(agent, shares),) if shares else (),
            notes,
        ),
        Section(f"Agreement, {name}", (agreement_table(agent, rows),) if rows else (), tuple(agreed)),
        Section(
            f"Medoids, {name}",
            (medoid_table(agent, chosen, _chosen_best(found)),) if chosen else (),
            () if chosen else ("No study has a cluster of trials.",),
        ),
        Section(f"Dendrogram of tasks, {name}", tuple(tree), tuple(grown)),
    ]


def _agreement(
    shares: Mapping[str, Mapping[str, Mapping[str, float]]], notes: list[str]
) -> dict[str, Agreement]:
    ratings = {
        task: [list(by_name.values()) for by_name in evaluators.values()]
        for task, evaluators in shares.items()
    }
    if len(shares) > 1:
        names = list(next(iter(shares.values()))[PED])
        if all(set(evaluators[PED]) == set(names) for evaluators in shares.values()):
            ratings["all"] = [[evaluators[PED][name] for name in names] for evaluators in shares.values()]
        else:
            notes.append(
                "The tasks' studies search different hyperparameters: their agreement is not defined."
            )
    found = {}
    for task, table in ratings.items():
        made = _tried(partial(_agreement_of, np.array(table)), notes, task)
        if made is not None:
            found[task] = made
    return found


def _agreement_of(table: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Agreement:
    return Agreement(agreement.kendalls_w(table), agreement.icc_1_1(table), agreement.icc_3_k(table))


def _chosen_medoid(study: Analysed, trial: TrialRow, cluster: Cluster) -> Chosen:
    assert study.shares is not None
    parameters = {name: trial.parameters.get(name) for name in study.table.parameters}
    return Chosen(parameters, cluster.score, support=cluster.support, highlighted=leading(study.shares[PED]))


def _tree(
    agent: str,
    shares: Mapping[str, Mapping[str, Mapping[str, float]]],
    medoids: Mapping[str, tuple[TrialRow, Cluster]],
) -> Figure:
    if len(medoids) < 2:
        raise TooFewError(f"a tree needs the medoids of at least 2 tasks, there are {len(medoids)}")
    weights = mean_importances([shares[task][PED] for task in medoids])
    rows = [{name: trial.parameters.get(name) for name in weights} for trial, _ in medoids.values()]
    return dendrogram_figure(
        upgma(list(medoids), gower_distances(rows, weights=weights)),
        agent,
        caption="Agglomerative clustering of tasks with similar hyperparameter values.",
        weighting="Weights: mean PED-ANOVA importance over the tasks.",
    )


def _curves(by_agent: Mapping[str, Mapping[str, Analysed]]) -> Section:
    tasks = ordered({task for found in by_agent.values() for task in found})
    curves = {
        task: {
            agent: found[task].best.epochs
            for agent, found in by_agent.items()
            if task in found and found[task].best.epochs
        }
        for task in tasks
    }
    curves = {task: agents for task, agents in curves.items() if agents}
    if not curves:
        return Section("Learning curves", notes=("The trials' epochs are not stored in these studies.",))
    return Section("Learning curves", (learning_curves(curves),))
