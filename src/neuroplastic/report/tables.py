"""The paper's tables, from numbers that the analysis gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..analysis.agreement import Concordance, IntraclassCorrelation
from ..analysis.comparison import Comparison
from ..analysis.gower import Value
from ..analysis.paper import TASKS
from ..analysis.samples import Sample
from .document import Cell, Table, text_cells
from .symbols import decimal, in_order, legend, probability, score, shown, symbol

# The paper draws a line after its weapon tasks and after its defence tasks.
GROUPS = (("BP", "BR", "PP"), ("HTL", "DTC"), ("TC", "GH"))


@dataclass(frozen=True)
class Chosen:
    """A configuration that a table shows: a best trial (with slope) or a medoid (with support)."""

    parameters: Mapping[str, Value]
    score: Sample
    slope: float | None = None
    support: int | None = None
    highlighted: tuple[str, ...] = ()
    printed: Mapping[str, str] = field(default_factory=dict)
    """text to show for an entry instead of the number formatted"""

    def text(self, name: str) -> str:
        """A hyperparameter as the table shows it."""
        return self.printed.get(name) or shown(name, self.parameters.get(name))

    def scores(self) -> tuple[str, str, str]:
        """Mean, SD and slope as the table shows them."""
        slope = self.slope if self.slope is not None else float("nan")
        numbers = {"mean": score(self.score.mean), "sd": score(self.score.sd), "slope": decimal(slope, 2)}
        mean, sd, m = (self.printed.get(name) or text for name, text in numbers.items())
        return mean, sd, m


def ordered(tasks: Iterable[str]) -> list[str]:
    """Tasks in the paper's order, then others by name."""
    return sorted(tasks, key=lambda task: (TASKS.index(task) if task in TASKS else len(TASKS), task))


def breaks(tasks: Sequence[str], rows_each: int = 1) -> tuple[int, ...]:
    """Rows above which a line belongs: where a task's group differs from the one before."""

    def group(task: str) -> int:
        return next((i for i, names in enumerate(GROUPS) if task in names), len(GROUPS))

    return tuple(
        i * rows_each for i in range(1, len(tasks)) if rows_each > 1 or group(tasks[i]) != group(tasks[i - 1])
    )


def best_table(agent: str, own: Mapping[str, Chosen], other: Mapping[str, Chosen]) -> Table:
    """Best trials of an agent; bold where mean, SD or slope beats the other agent's."""
    tasks = ordered(own)
    names = in_order(tuple(dict.fromkeys(n for row in own.values() for n in row.parameters)), agent)
    rows = []
    for task in tasks:
        best, rival = own[task], other.get(task)
        values = [Cell(best.text(name)) for name in names]
        slope = best.slope if best.slope is not None else float("nan")
        beats = (
            rival is not None and best.score.mean > rival.score.mean,
            rival is not None and best.score.sd < rival.score.sd,
            rival is not None and rival.slope is not None and slope > rival.slope,
        )
        scores = [Cell(text, bold=bold) for text, bold in zip(best.scores(), beats, strict=True)]
        rows.append((Cell(task), *values, *scores))
    kind = {"dnn": "DNNs", "nfn": "concurrent optimization of NFNs"}.get(agent, agent)
    return Table(
        f"best_{agent}",
        f"Best trials' hyperparameters for {kind}.",
        "One row per task: the settings of its best trial, then the mean return over the evaluation episodes of its "
        "best epoch, their SD, and the slope m of the epochs' means. Bold: better than the other kind of agent. "
        + legend(names),
        ("Task", *(symbol(name) for name in names), "Mean", "SD", "m"),
        tuple(rows),
        breaks(tasks),
    )


def comparison_table(comparisons: Mapping[str, Comparison]) -> Table:
    """F-test, t-test and effect size of NFN against DNN, task by task."""
    tasks = ordered(comparisons)
    rows = []
    for task in tasks:
        c = comparisons[task]
        significant = c.means.p < 0.05
        rows.append(
            (
                *text_cells(
                    task,
                    decimal(c.variances.statistic, 2),
                    f"{c.variances.df[0]}, {c.variances.df[1]}",
                    probability(c.variances.p),
                    c.means.kind,
                    decimal(c.means.statistic, 4),
                    decimal(c.means.df, 1),
                ),
                Cell(probability(c.means.p), bold=significant),
                Cell(decimal(c.d, 4)),
            )
        )
    return Table(
        "comparisons",
        "NFN against DNN: equality of variances, difference of means, effect size.",
        "F is the DNN's variance over the NFN's; where its p is below .05 the variances differ and Welch's t-test is "
        "used, else Student's. t and d are NFN minus DNN: above 0 the NFN scores higher. Bold: p below .05. "
        "|d| of .2 is small, .5 medium, .8 large.",
        ("Task", "F", "df", "p (F)", "Test", "t", "df (t)", "p", "d"),
        tuple(rows),
        breaks(tasks),
    )


def importance_table(agent: str, importances: Mapping[str, Mapping[str, Mapping[str, float]]]) -> Table:
    """Importances by task and evaluator, shaded; a hyperparameter that a task's search left out is '-' there."""
    tasks = ordered(importances)
    first = next(iter(importances.values()))
    found = (name for task in importances.values() for shares in task.values() for name in shares)
    names = in_order(tuple(dict.fromkeys(found)), agent)
    rows = []
    for task in tasks:
        for place, (evaluator, shares) in enumerate(importances[task].items()):
            cells = (
                Cell(decimal(shares[name], 2), shade=shares[name]) if name in shares else Cell("-")
                for name in names
            )
            rows.append((Cell(task if place == 1 else ""), Cell(evaluator), *cells))
    return Table(
        f"importances_{agent}",
        f"Hyperparameter importance for {agent.upper()}s.",
        "Each row sums to 1; the darker a cell, the more its hyperparameter matters. fANOVA: for the variance over "
        "the whole space; MDI: for the splits of a random forest; PED-ANOVA: for being among the best 10 % of trials. "
        + legend(names),
        ("Task", "Evaluator", *(symbol(name) for name in names)),
        tuple(rows),
        breaks(tasks, rows_each=len(first)),
    )


@dataclass(frozen=True)
class Agreement:
    """How far the raters of one row agree."""

    concordance: Concordance
    single: IntraclassCorrelation
    mean: IntraclassCorrelation


def agreement_table(agent: str, rows_of: Mapping[str, Agreement]) -> Table:
    """Kendall's W, ICC(1,1) and ICC(3,k) of the evaluators for each task, and of the tasks (row 'all')."""
    names = [*ordered(name for name in rows_of if name != "all"), *(["all"] if "all" in rows_of else [])]
    rows = []
    for name in names:
        a = rows_of[name]
        rows.append(
            (
                Cell(name),
                Cell(decimal(a.concordance.w, 4)),
                Cell(probability(a.concordance.p), bold=a.concordance.p < 0.05),
                *_icc_cells(a.single),
                *_icc_cells(a.mean),
            )
        )
    lines = breaks([name for name in names if name != "all"])
    return Table(
        f"agreement_{agent}",
        f"Agreement on the hyperparameters' importance, {agent.upper()}.",
        "Per task: do fANOVA, MDI and PED-ANOVA agree? Row 'all': do the tasks agree by PED-ANOVA? W compares ranks, "
        "0 (none) to 1 (the same). ICC(1,1) compares the values of one evaluator with another's, ICC(3,k) says how "
        "reliable the mean of all is: below .40 poor, .60 and above good, .75 and above excellent. Bold: p below .05.",
        (
            "Task",
            "W",
            "p (W)",
            "F",
            "df",
            "p (F)",
            "ICC(1,1)",
            "95 % CI",
            "F",
            "df",
            "p (F)",
            "ICC(3,k)",
            "95 % CI",
        ),
        tuple(rows),
        (*lines, *([len(names) - 1] if "all" in rows_of and len(names) > 1 else [])),
    )


def _icc_cells(icc: IntraclassCorrelation) -> tuple[Cell, ...]:
    return (
        Cell(decimal(icc.f, 2)),
        Cell(f"{icc.df[0]}, {icc.df[1]}"),
        Cell(probability(icc.p), bold=icc.p < 0.05),
        Cell(decimal(icc.value, 4), bold=icc.p < 0.05),
        Cell(f"({icc.interval[0]:.2f}, {icc.interval[1]:.2f})"),
    )


def medoid_table(agent: str, medoids: Mapping[str, Chosen], best: Mapping[str, Chosen]) -> Table:
    """Medoids of the best clusters; highlighted what explains 90 %, bold what the best trial has too."""
    tasks = ordered(medoids)
    names = in_order(tuple(dict.fromkeys(n for row in medoids.values() for n in row.parameters)), agent)
    rows = []
    for task in tasks:
        row = medoids[task]
        same = best[task].parameters if task in best else {}
        values = [
            Cell(
                row.text(name),
                bold=name in same
                and shown(name, same.get(name)) == shown(name, row.parameters.get(name)) != "-",
                highlighted=name in row.highlighted,
            )
            for name in names
        ]
        scores = text_cells(*row.scores()[:2], str(row.support or "-"))
        rows.append((Cell(task), *values, *scores))
    return Table(
        f"medoids_{agent}",
        f"Medoids of best hyperparameters for {agent.upper()}s.",
        "Trials with similar settings (Gower distance weighted by PED-ANOVA importance) are clustered by OPTICS; shown "
        "is the most central trial of the cluster with the greatest pooled mean, with that mean, the pooled SD and the "
        "number of trials (Sup.). Underlined on grey: the settings that explain up to 90 % of the performance. "
        "Bold: the same as in the best trial.",
        ("Task", *(symbol(name) for name in names), "Mean", "SD", "Sup."),
        tuple(rows),
        breaks(tasks),
    )
