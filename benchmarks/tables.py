"""Accuracy on tables of data beside peers: 5 folds, the same splits for all, everybody's defaults.

`python -m benchmarks tables [--markdown]` runs what is missing in docs/data/tables.csv and prints the tables;
`--splits 3` does so for three ways of cutting the rows into folds, `--method` and `--table` for some of them only;
`--timing` fits ours and highFIS's in turns on digits and satimage and prints how long that takes.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
from scipy.stats import rankdata
from sklearn.model_selection import KFold, StratifiedKFold
from threadpoolctl import threadpool_limits

from benchmarks.tables_data import CLASSIFICATION, REGRESSION, Table
from benchmarks.tables_methods import BOOSTING, CLASSIFIERS, OURS, OURS_SMALL, REGRESSORS, Make

FOLDS = 5
SPLIT_SEED, FIT_SEED = 2024, 0
FILE = Path("docs/data/tables.csv")
FIELDS = ("table", "method", "split", "fold", "score", "seconds")

Results = dict[tuple[str, str], dict[tuple[int, int], float]]
"""Scores by split and fold, by table and method."""


def folds(table: Table, split: int) -> list[tuple[np.ndarray, np.ndarray]]:
    x, y = table.load()
    kind = StratifiedKFold if table.task == "classification" else KFold
    return list(kind(FOLDS, shuffle=True, random_state=SPLIT_SEED + split).split(x, y))


def fit_once(table: Table, make: Make, split: int, fold: int) -> tuple[float, float]:
    """Score on the fold (accuracy or R^2) and seconds of the fit."""
    x, y = table.load()
    train, test = folds(table, split)[fold]
    model = make(FIT_SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of convergence, mostly
        started = time.perf_counter()
        model.fit(x[train], y[train])
        seconds = time.perf_counter() - started
        return float(model.score(x[test], y[test])), seconds


def read(path: Path = FILE) -> Results:
    results: Results = {}
    if path.exists():
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                scores = results.setdefault((row["table"], row["method"]), {})
                scores[int(row["split"]), int(row["fold"])] = float(row["score"])
    return results


def run(path: Path = FILE, only: Sequence[str] = (), methods: Sequence[str] = (), *, splits: int = 1) -> None:
    """Fit what is missing, one line of the file per fit, written at once."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(",".join(FIELDS) + "\n")
    for table in (*CLASSIFICATION, *REGRESSION):
        if only and table.name not in only:
            continue
        for name, make in (CLASSIFIERS if table.task == "classification" else REGRESSORS).items():
            if methods and name not in methods:
                continue
            for split, fold in product(range(splits), range(FOLDS)):
                if (split, fold) in read(path).get((table.name, name), {}):
                    continue
                score, seconds = fit_once(table, make, split, fold)
                with path.open("a", newline="") as file:
                    csv.writer(file, lineterminator="\n").writerow(
                        (table.name, name, split, fold, f"{score:.6f}", f"{seconds:.3f}")
                    )
                print(
                    f"{table.name:14s} {name:24s} {split}.{fold}: {score:.4f} in {seconds:.1f} s", flush=True
                )


def mean_score(results: Results, table: str, method: str, splits: int) -> float | None:
    """The mean over all folds of the first splits; None where one of them was not measured."""
    scores = results.get((table, method), {})
    wanted = list(product(range(splits), range(FOLDS)))
    return float(np.mean([scores[key] for key in wanted])) if all(key in scores for key in wanted) else None


def matrix(
    results: Results, tables: Sequence[Table], methods: Sequence[str], splits: int
) -> tuple[list[str], np.ndarray]:
    """Names of the tables on which every method has all folds, and mean scores (tables, methods)."""
    rows = {
        table.name: [mean_score(results, table.name, method, splits) for method in methods]
        for table in tables
    }
    complete = {name: means for name, means in rows.items() if None not in means}
    return list(complete), np.array(list(complete.values()), dtype=float).reshape(len(complete), len(methods))


def print_table(
    names: Sequence[str], scores: np.ndarray, methods: Sequence[str], *, markdown: bool, per_cent: bool
) -> None:
    factor, digits = (100, 1) if per_cent else (1, 3)
    ranks = np.array([rankdata(-np.round(row, 6)) for row in scores])
    lines = [
        [name, *(f"{factor * score:.{digits}f}" for score in row)]
        for name, row in zip(names, scores, strict=True)
    ]
    lines.append(["mean", *(f"{factor * score:.{digits}f}" for score in scores.mean(axis=0))])
    lines.append(["mean rank", *(f"{rank:.2f}" for rank in ranks.mean(axis=0))])
    head = ["", *methods]
    if markdown:
        print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
        print("\n".join("| " + " | ".join(line) + " |" for line in lines))
    else:
        widths = [max(len(line[column]) for line in (head, *lines)) for column in range(len(head))]
        for line in (head, *lines):
            print("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)))


def print_targets(
    names: Sequence[str], scores: np.ndarray, methods: Sequence[str], *, markdown: bool
) -> None:
    """Each target, the figure reached, and whether it is met."""
    ranks = dict(zip(methods, np.mean([rankdata(-np.round(row, 6)) for row in scores], axis=0), strict=True))
    column = {method: scores[:, place] for place, method in enumerate(methods)}
    claims = [
        (
            f"mean rank better than {peer}'s",
            ranks[OURS] < ranks[peer],
            f"{ranks[OURS]:.2f} and {ranks[peer]:.2f}",
        )
        for peer in methods
        if peer not in (OURS, OURS_SMALL, BOOSTING)
    ]
    behind = 100 * float((column[BOOSTING] - column[OURS]).mean())
    claims.append(
        ("at most 1 point behind gradient boosting on average", behind <= 1, f"{behind:+.2f} behind")
    )
    if OURS_SMALL in column:
        near = int((column[OURS] - column[OURS_SMALL] <= 0.02).sum())
        claims.append(
            (f"10 rules within 2 points of our default on 8 of {len(names)}", near >= 8, f"on {near}")
        )
    print()
    for claim, met, figure in claims:
        print(f"{'- ' if markdown else '  '}{claim}: {figure} ({'met' if met else 'MISSED'})")


def print_overall(
    groups: Sequence[tuple[Sequence[str], np.ndarray, Sequence[str]]], *, markdown: bool
) -> None:
    """Mean rank over the tables of both kinds, for the methods that have an estimator for both."""
    common = [method for method in groups[0][2] if all(method in methods for _, _, methods in groups)]
    ranks: dict[str, list[float]] = {method: [] for method in common}
    for _, scores, methods in groups:
        places = [methods.index(method) for method in common]
        for row in scores[:, places]:
            for method, rank in zip(common, rankdata(-np.round(row, 6)), strict=True):
                ranks[method].append(float(rank))
    count = len(ranks[common[0]])
    print(f"\nmean rank over all {count} tables, among the {len(common)} methods that do both\n")
    for method in sorted(common, key=lambda name: np.mean(ranks[name])):
        print(f"{'- ' if markdown else '  '}{method}: {np.mean(ranks[method]):.2f}")


def timing(rounds: int = 3) -> None:
    """Fit times of ours (default and 10 rules) and highFIS's in turns, best of `rounds`, on a fold of each table."""
    peers = [name for name in CLASSIFIERS if name.startswith("highFIS")]
    for table in CLASSIFICATION:
        if table.name not in ("digits", "satimage"):
            continue
        best: dict[str, float] = {}
        score: dict[str, float] = {}
        for _ in range(rounds):
            for name in (OURS, OURS_SMALL, *peers):
                score[name], seconds = fit_once(table, CLASSIFIERS[name], 0, 0)
                best[name] = min(seconds, best.get(name, np.inf))
        for name in (OURS, OURS_SMALL, *peers):
            print(f"  {table.name:10s} {name:24s} {best[name]:8.2f} s  accuracy {score[name]:.4f}")
        for ours in (OURS, OURS_SMALL):
            for peer in peers:
                ratio = best[ours] / best[peer]
                met = "met" if ratio <= 0.5 and score[ours] >= score[peer] else "MISSED"
                print(f"  {table.name}: {ours} takes {ratio:.2f} of the time of {peer} (limit 0.5, {met})")


def report(results: Results, splits: int, *, markdown: bool) -> None:
    """The tables of scores, mean ranks and targets over the first splits."""
    groups: list[tuple[Sequence[str], np.ndarray, Sequence[str]]] = []
    for tables, all_methods, what in (
        (CLASSIFICATION, list(CLASSIFIERS), "accuracy in per cent"),
        (REGRESSION, list(REGRESSORS), "R^2"),
    ):
        methods = [
            name
            for name in all_methods
            if any(mean_score(results, table.name, name, splits) is not None for table in tables)
        ]
        names, scores = matrix(results, tables, methods, splits)
        absent = [name for name in all_methods if name not in methods]
        absent += [table.name for table in tables if table.name not in names]
        if absent:
            print(f"\nnot measured in full, so left out: {', '.join(absent)}")
        if names:
            groups.append((names, scores, methods))
            print(f"\n{what}, mean of {splits} x {FOLDS} folds\n")
            per_cent = tables is CLASSIFICATION
            print_table(names, scores, methods, markdown=markdown, per_cent=per_cent)
            if per_cent:
                print_targets(names, scores, methods, markdown=markdown)
    if len(groups) == 2:
        print_overall(groups, markdown=markdown)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks tables", description=__doc__)
    parser.add_argument("--markdown", action="store_true", help="print the tables as Markdown")
    parser.add_argument("--timing", action="store_true", help="only time the fits on digits and satimage")
    parser.add_argument(
        "--print", action="store_true", dest="only_print", help="fit nothing, print what there is"
    )
    parser.add_argument("--splits", type=int, default=1, help="ways to cut the rows into folds (default: 1)")
    parser.add_argument("--table", action="append", default=[], help="only this table (may be repeated)")
    parser.add_argument("--method", action="append", default=[], help="only this method (may be repeated)")
    parser.add_argument("--out", type=Path, default=FILE, help=f"the file of all fits (default: {FILE})")
    options = parser.parse_args(arguments)
    if options.timing:
        timing()
        return
    if not options.only_print:
        with threadpool_limits(1):
            run(options.out, options.table, options.method, splits=options.splits)
    report(read(options.out), options.splits, markdown=options.markdown)


if __name__ == "__main__":
    main()
