"""The report of the paper's printed tables: what can be recomputed is, and every figure is marked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ..analysis import agreement, dendrogram, gower, importance, paper
from ..analysis.comparison import Comparison, compare
from ..analysis.importance import PED
from ..analysis.paper import TASKS, Printed, PrintedTrial
from .document import DIFFERS, EQUAL, ROUNDED, SLIP, Cell, Figure, Report, Section, Table
from .drawing import dendrogram_figure
from .symbols import SYMBOLS, decimal
from .tables import Chosen, best_table, breaks, importance_table, medoid_table

DRAWS = 200
# Hyperparameters of an NFN, which the raters rank.
SUBJECTS = 12
Ratings = NDArray[np.float64]
_GH_SLIP = {("GH", "t"), ("GH", "d")}


def paper_report(firing: Section | None = None) -> Report:
    """All sections; `firing` is that of Appendix B, which needs a network and pictures."""
    sections = (
        _best(),
        _comparisons(),
        _importances(),
        _agreement(),
        _medoids(),
        _dendrogram(),
        Section("Learning curves", notes=("The paper prints no learning curves.",)),
    )
    return Report(
        "The paper's tables, recomputed",
        (
            "From the printed tables of J. W. Hostetter and M. Chi, Gradient-Based Neuroplastic Adaptation for the "
            "Concurrent Optimization of Neuro-Fuzzy Networks: 7 tasks, 720 trials for each of two kinds of agent, "
            "25 evaluation episodes.",
            "Every printed number that follows from other printed numbers was computed again and marked.",
        ),
        sections if firing is None else (*sections, firing),
    )


def check(printed: str, value: float, digits: int | None = None, *, slip: bool = False) -> Cell:
    """A printed number with its mark; where it is not equal, what was computed stands beside it."""
    number = Printed(printed)
    if number.equals(value):
        return Cell(printed, mark=EQUAL)
    text = decimal(value, number.decimals if digits is None else digits)
    return Cell(printed, mark=SLIP if slip else DIFFERS, note=text)


def _chosen(trial: PrintedTrial, row: Mapping[str, str]) -> Chosen:
    texts = {name: row[name] for name in ("mean", "sd", "slope", "temperature") if name in row}
    return Chosen(trial.parameters, trial.score, trial.slope, trial.support, trial.highlighted, texts)


def _table_of(name: str, trials: Mapping[str, PrintedTrial]) -> dict[str, Chosen]:
    return {row["task"]: _chosen(trials[row["task"]], row) for row in paper.printed(name)}


def _best() -> Section:
    dnn, nfn = (_table_of(f"{agent}_best", paper.best_trials(agent)) for agent in ("dnn", "nfn"))
    return Section("Best hyperparameters", (best_table("dnn", dnn, nfn), best_table("nfn", nfn, dnn)))


def comparisons() -> dict[str, Comparison]:
    """The seven comparisons, from the tables of best trials."""
    dnn, nfn = paper.best_trials("dnn"), paper.best_trials("nfn")
    return {task: compare(dnn[task].score, nfn[task].score) for task in TASKS}


def _comparisons() -> Section:
    ours = comparisons()
    rows = []
    for printed in paper.printed("comparisons"):
        task = printed["task"]
        c = ours[task]
        values = {
            "f": c.variances.statistic,
            "f_p": c.variances.p,
            "t": c.means.statistic,
            "p": c.means.p,
            "d": c.d,
        }
        cells = {
            name: check(printed[name], value, slip=(task, name) in _GH_SLIP) for name, value in values.items()
        }
        df = (
            Cell("48", mark=EQUAL) if c.means.df == 48 else Cell("48", mark=SLIP, note=decimal(c.means.df, 1))
        )
        rows.append(
            (Cell(task), cells["f"], cells["f_p"], Cell(c.means.kind), df, cells["t"], cells["p"], cells["d"])
        )
    table = Table(
        "comparisons",
        "NFN against DNN: equality of variances, difference of means, effect size.",
        "Printed numbers, each computed again from means and SDs of the tables of best trials, n = 25. F: variance of "
        "the DNN over that of the NFN, two-sided; where p (F) is below .05 Welch's t-test is used, else Student's. "
        "t and d: NFN minus DNN. A number beside a mark is what was computed.",
        ("Task", "F", "p (F)", "Test", "df (t)", "t", "p", "d"),
        tuple(rows),
        breaks(TASKS),
    )
    notes = (
        "Slip: the text drops the sign of t and d in GH, where the NFN scores less than the DNN.",
        "Slip: t(48) is printed for all seven tests; those by Welch (BR, DTC, TC, GH) have degrees of freedom of "
        "their own. The printed p-values are those of the right ones.",
    )
    return Section("Comparisons with tests", (table,), notes)


def _importances() -> Section:
    table = importance_table("nfn", paper.importances())
    means = importance.mean_importances([paper.importances()[task][PED] for task in TASKS])
    printed = {row["hyperparameter"]: row["mean"] for row in paper.printed("mean_importances")}
    together = printed.pop("together")
    rows = []
    for name, text in printed.items():
        near = abs(means[name] - float(text)) <= 0.005
        rows.append(
            (
                Cell(SYMBOLS[name].text),
                Cell(text, mark=ROUNDED if near else DIFFERS),
                Cell(decimal(means[name], 4)),
            )
        )
    total = sum(float(text) for text in printed.values())
    rows.append((Cell("together"), check(together, total), Cell(decimal(sum(means[n] for n in printed), 4))))
    mean_table = Table(
        "mean_importances",
        "Mean PED-ANOVA importance over the tasks.",
        "Printed in the text, and the mean of the table's column. The table is rounded to two digits, so a mean from "
        "it is known to .005 (≈). 'together' is the sum of the five printed means.",
        ("Hyperparameter", "Printed", "Table's mean"),
        tuple(rows),
        (len(printed),),
    )
    return Section("Importance of hyperparameters", (table, mean_table))


def _ratings(task: str) -> Ratings:
    if task == "all":
        return np.array([list(paper.importances()[name][PED].values()) for name in TASKS])
    return np.array([list(shares.values()) for shares in paper.importances()[task].values()])


def rounding(printed: str, table: Ratings, statistic: Callable[[Ratings], float]) -> Cell:
    """A printed number against its statistic of a rounded table, and of tables that would round to it."""
    value = statistic(table)
    generator = np.random.default_rng(0)
    draws = [
        statistic(np.clip(table + generator.uniform(-0.005, 0.005, table.shape), 0, None))
        for _ in range(DRAWS)
    ]
    low, high = min(draws), max(draws)
    number = Printed(printed)
    inside = low <= number.number <= high
    mark = EQUAL if number.equals(value) else ROUNDED if inside else DIFFERS
    return Cell(printed, mark=mark, note=f"{decimal(value, 4)} ({decimal(low, 2)} to {decimal(high, 2)})")


def _printed_agreement(row: Mapping[str, str]) -> tuple[Cell, ...]:
    """One row of the paper's table, with what follows from its W and F computed again."""
    whole = row["task"] == "all"
    raters = len(TASKS) if whole else len(importance.EVALUATORS)
    of_f = agreement.icc_3_k_of_f if whole else agreement.icc_1_1_of_f
    icc = of_f(float(row["f"]), raters=raters, subjects=SUBJECTS)
    w_p = agreement.concordance(float(row["w"]), raters=raters, subjects=SUBJECTS).p
    return (
        Cell(row["task"]),
        Cell(row["w"]),
        check(row["w_p"], w_p),
        Cell(row["f"]),
        Cell(f"{icc.df[0]}, {icc.df[1]}"),
        check(row["f_p"], icc.p),
        check(row["icc"], icc.value),
        Cell(icc.kind, mark=EQUAL if whole else SLIP),
        check(row["low"], icc.interval[0]),
        check(row["high"], icc.interval[1]),
    )


def _rounded_agreement(row: Mapping[str, str]) -> tuple[Cell, ...]:
    """One row computed from the printed importances; the ICC that the paper prints stands beside ours."""
    whole, table = row["task"] == "all", _ratings(row["task"])
    single, mean = agreement.icc_1_1(table), agreement.icc_3_k(table)
    if whole:
        iccs = (
            Cell(decimal(single.value, 4)),
            rounding(row["icc"], table, lambda t: agreement.icc_3_k(t).value),
        )
    else:
        iccs = (
            rounding(row["icc"], table, lambda t: agreement.icc_1_1(t).value),
            Cell(decimal(mean.value, 4)),
        )
    return (
        Cell(row["task"]),
        rounding(row["w"], table, lambda t: agreement.kendalls_w(t).w),
        Cell(decimal(agreement.kendalls_w(table, ties=False).w, 4)),
        Cell(decimal(single.f, 2)),
        iccs[0],
        Cell(decimal(mean.f, 2)),
        iccs[1],
    )


def _agreement() -> Section:
    lines = (*breaks(TASKS), len(TASKS))
    first = Table(
        "agreement",
        "Agreement on the hyperparameters' importance, as printed.",
        "p of W follows from W, and p, ICC and interval from F; they were computed again. Rows of tasks: the three "
        "evaluators; row 'all': the seven tasks by PED-ANOVA.",
        ("Task", "W", "p (W)", "F", "df", "p (F)", "ICC", "which is", "low", "high"),
        tuple(map(_printed_agreement, paper.printed("agreement"))),
        lines,
    )
    second = Table(
        "agreement_rounded",
        "Agreement from the printed table of importances.",
        "The same from importances rounded to two digits, which moves values and ties ranks. Before the mark: "
        f"the paper; after it: ours, and the range over {DRAWS} tables that round to the printed one; within it "
        "stands ≈, else ≠.",
        ("Task", "W", "W, ties not corrected", "F (1,1)", "ICC(1,1)", "F (3,k)", "ICC(3,k)"),
        tuple(map(_rounded_agreement, paper.printed("agreement"))),
        lines,
    )
    note = (
        "Slip: the column called ICC(3,k) in the table of tasks is ICC(1,1), (F - 1) / (F + 2) of an F with (11, 24) "
        "degrees of freedom. The one over all tasks, F(11, 66), is a true ICC(3,k): .7546, from the rounded table .757."
    )
    other = (
        "W over all tasks, printed as .4316, does not follow: a search among tables that round to the printed one "
        "found none with a W below .44."
    )
    return Section("Agreement", (first, second), (note, other))


def _medoids() -> Section:
    medoids = _table_of("medoids", paper.medoids())
    best = _table_of("nfn_best", paper.best_trials("nfn"))
    rows = []
    for task in TASKS:
        shares = paper.importances()[task][PED]
        ours = set(importance.leading(shares)) - {"constraint"}
        theirs = set(medoids[task].highlighted)
        mark = EQUAL if ours == theirs else SLIP if task == "HTL" else ROUNDED
        rows.append(
            (Cell(task), Cell(_symbols(theirs), mark=mark), Cell(_symbols(ours)), Cell(_WHY.get(task, "")))
        )
    table = Table(
        "highlighting",
        "What explains 90 % of the performance.",
        "Hyperparameters in order of PED-ANOVA importance, as long as their sum is at most .90 (theta counts, but "
        "has no column among the medoids).",
        ("Task", "Highlighted", "From the table", "Where they differ"),
        tuple(rows),
        breaks(TASKS),
    )
    return Section("Medoids", (medoid_table("nfn", medoids, best), table))


_WHY = {
    "BP": "Rounded shares of the five sum to .89, exact ones may pass .90.",
    "BR": "η and ε both have .06; rounding ties them.",
    "HTL": "A slip: N (.09) is not highlighted, but CF (.08) and τ (.07) are. τ and STGE tie at .07.",
    "DTC": "Rounded shares with α sum to .91, exact ones may not pass .90.",
}


def _symbols(names: set[str]) -> str:
    return " ".join(SYMBOLS[name].text for name in SYMBOLS if name in names)


def task_dendrogram(weights: dict[str, float] | None) -> dendrogram.Dendrogram:
    """The tasks' medoids by Gower distance with those weights; None weighs all hyperparameters alike."""
    rows = [paper.medoids()[task].parameters for task in TASKS]
    return dendrogram.upgma(TASKS, gower.gower_distances(rows, weights=weights))


def _dendrogram() -> Section:
    means = importance.mean_importances([paper.importances()[task][PED] for task in TASKS])
    weighted, plain = task_dendrogram(means), task_dendrogram(None)
    caption = "Agglomerative clustering of tasks with similar hyperparameter values"
    figures: list[Figure] = [
        dendrogram_figure(
            weighted,
            "nfn",
            caption=f"{caption}.",
            weighting="Weights: mean PED-ANOVA importance, as in the paper.",
        ),
        dendrogram_figure(
            plain,
            "nfn_unweighted",
            caption=f"{caption}, unweighted.",
            weighting="All hyperparameters weigh the same.",
        ),
    ]
    rows = []
    for row in paper.printed("merges"):
        names = row["names"].split()
        heights = [_height(tree, names) for tree in (weighted, plain)]
        cells = [
            check(row["height"], height) if height is not None else Cell("no such group", mark=DIFFERS)
            for height in heights
        ]
        rows.append((Cell(row["names"]), Cell(row["height"]), *cells))
    table = Table(
        "merges",
        "Heights at which the paper's groups merge.",
        "The paper's groups and heights, and whether the trees above have the same group at that height.",
        ("Group", "Printed", "Weighted", "Unweighted"),
        tuple(rows),
    )
    note = (
        "The paper's tree does not follow from its printed medoids with its mean importances as weights: of 512 ways "
        "to measure (ranges of the medoids or of the search space, each numeric column as number or as category, theta "
        "counted or not) none gives its groups {DTC, GH, PP} and {HTL, BR, BP} with TC joining last."
    )
    return Section("Dendrogram of tasks", (*figures, table), (note,))


def _height(tree: dendrogram.Dendrogram, names: Sequence[str]) -> float | None:
    if names[0] == "pair":
        inside = set(names[2:])
        pairs = [merge.height for merge in tree.merges if len(merge.names) == 2 and set(merge.names) < inside]
        return pairs[0] if pairs else None
    return next((merge.height for merge in tree.merges if set(merge.names) == set(names)), None)
