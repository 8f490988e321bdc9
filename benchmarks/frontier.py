"""Accuracy against size: readable rules beside other rule learners at 10, 20 and 40 premises, 5 folds x 3 splits.

`python -m benchmarks frontier` runs what is missing in docs/data/frontier.csv and prints the tables;
`--methods tree FIGS`, `--splits 1` and `--tables iris` choose, `--print` only prints. Tables of more than 1,500 rows
are represented by 1,500 of them. All settings were chosen on other tables, see docs/readable.md.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.stats import rankdata
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from benchmarks.frontier_methods import OURS, SIZED, UNSIZED, Fit
from benchmarks.tables_data import FRONTIER, Table

SIZES, FOLDS, SPLITS, ROWS = (10, 20, 40), 5, 3, 1500
# Methods for two classes make a model for each: of more than so many classes that is no longer one model to read.
MOST_CLASSES = 4
BINARY = ("RuleFit", "RIPPER")
DEFAULT = "neuroplastic, readable by default"
FAST = [OURS, "tree", "FIGS", "boosted rules"]
FILE = Path("docs/data/frontier.csv")
FIELDS = (
    *("table", "classes", "method", "limit", "split", "fold", "accuracy", "size", "seconds"),
    *("rules", "fit", "premises", "rules_per_decision", "carry"),
)


def rows_of(table: Table) -> tuple[np.ndarray, np.ndarray]:
    x, y = table.load()
    if len(x) > ROWS:
        some = np.random.RandomState(0).permutation(len(x))[:ROWS]
        x, y = x[some], y[some]
    return x, y


def fit_once(table: Table, fit: Fit, limit: int, split: int, fold: int) -> dict[str, object]:
    """One model on one fold."""
    x, y = rows_of(table)
    folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=split).split(x, y))
    train, test = folds[fold]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        began = time.perf_counter()
        found = fit(x[train], y[train], limit, 0)
        seconds = time.perf_counter() - began
        accuracy = float(np.mean(found.predict(x[test]) == y[test]))
        row: dict[str, object] = {
            "accuracy": round(accuracy, 5),
            "size": found.size,
            "seconds": round(seconds, 2),
        }
        if found.model is not None:
            told = found.model.diagnose(x[test])
            row |= {"rules": told.rules} | {
                name: round(getattr(told, name), 4)
                for name in ("fit", "premises", "rules_per_decision", "carry")
            }
    return row


def read(path: Path = FILE) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def run(tables: Sequence[Table], methods: Sequence[str], splits: int) -> None:
    """All fits that are not in the file yet, each written as soon as it is done."""
    done = {(row["table"], row["method"], row["limit"], row["split"], row["fold"]) for row in read()}
    if not FILE.exists():
        FILE.write_text(",".join(FIELDS) + "\n")
    with FILE.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        for split in range(splits):
            for table in tables:
                classes = len(np.unique(table.load()[1]))
                for method in methods:
                    if method in BINARY and classes > MOST_CLASSES:
                        continue
                    for limit in SIZES if method in SIZED else (0,):
                        for fold in range(FOLDS):
                            key = (table.name, method, str(limit), str(split), str(fold))
                            if key in done:
                                continue
                            row = fit_once(table, {**SIZED, **UNSIZED}[method], limit, split, fold)
                            writer.writerow(
                                dict(
                                    zip(
                                        FIELDS,
                                        (table.name, classes, method, limit, split, fold),
                                        strict=False,
                                    )
                                )
                                | row
                            )
                            file.flush()


def means(rows: Sequence[dict[str, str]], figure: str = "accuracy") -> dict[tuple[str, str, str], float]:
    """Mean over folds and splits by method, limit and table."""
    found: dict[tuple[str, str, str], list[float]] = {}
    for row in rows:
        if row[figure]:
            found.setdefault((row["method"], row["limit"], row["table"]), []).append(float(row[figure]))
    return {key: float(np.mean(values)) for key, values in found.items()}


def ranks(
    rows: Sequence[dict[str, str]], methods: Sequence[str], limit: str
) -> tuple[dict[str, tuple[float, float, float]], int]:
    """Mean rank, accuracy and size of each method on the tables that all of them have, and how many those are."""
    accuracy, size = means(rows), means(rows, "size")
    tables = sorted({row["table"] for row in rows})
    common = [name for name in tables if all((method, limit, name) in accuracy for method in methods)]
    if not common:
        return {}, 0
    scores = np.array([[accuracy[method, limit, name] for name in common] for method in methods])
    places = np.mean([rankdata(-column) for column in scores.T], axis=0)
    sizes = [np.mean([size[method, limit, name] for name in common]) for method in methods]
    return {
        method: (float(place), float(row.mean()), float(count))
        for method, place, row, count in zip(methods, places, scores, sizes, strict=True)
    }, len(common)


def _far_enough(rows: Sequence[dict[str, str]], methods: Sequence[str]) -> list[str]:
    """Methods that were run on most of the tables that another of them was run on."""
    tables = {method: {row["table"] for row in rows if row["method"] == method} for method in methods}
    most = max((len(names) for names in tables.values()), default=0)
    return [method for method, names in tables.items() if 2 * len(names) > most]


def shared(rows: Sequence[dict[str, str]], methods: Sequence[str], limit: str) -> list[dict[str, str]]:
    """Rows of these methods at this limit, of those splits of a table that all of them have with all folds."""
    mine = [row for row in rows if row["method"] in methods and row["limit"] == limit]
    folds = Counter((row["table"], row["split"], row["method"]) for row in mine)
    return [
        row for row in mine if all(folds[row["table"], row["split"], method] == FOLDS for method in methods)
    ]


def report(rows: Sequence[dict[str, str]]) -> None:
    """The tables of docs/readable.md."""
    several = [method for method in SIZED if method not in BINARY]
    for title, methods in (
        ("all tables", several),
        (f"tables of at most {MOST_CLASSES} classes", list(SIZED)),
        ("those that are fast, more splits", FAST),
    ):
        print(f"\n### Rule learners, {title}\n")
        print("| premises at most | " + " | ".join(methods) + " |\n|---|" + "---|" * len(methods))
        for limit in map(str, SIZES):
            present = _far_enough(rows, methods)
            common = shared(rows, present, limit)
            found, count = ranks(common, present, limit)
            fits = len({(row["table"], row["split"]) for row in common})
            cells = [
                f"{100 * found[method][1]:.1f} %, rank {found[method][0]:.2f}, size {found[method][2]:.0f}"
                if method in found
                else "not run"
                for method in methods
            ]
            print(f"| {limit} ({count} tables, {fits} splits in all) | " + " | ".join(cells) + " |")
    print("\n### Readable by default\n")
    few = {row["table"] for row in rows if int(row["classes"]) <= MOST_CLASSES}
    for title, chosen in (("all tables", None), (f"at most {MOST_CLASSES} classes", few)):
        print(f"- {title}: " + "; ".join(_beside(rows, method, chosen) for method in UNSIZED))
    for figure in ("size", "rules", "fit", "premises", "rules_per_decision", "carry"):
        values = [value for (method, _, _), value in means(rows, figure).items() if method == DEFAULT]
        if values:
            print(
                f"- {figure}: {np.mean(values):.2f} ({len(values)} tables, {min(values):.2f} to {max(values):.2f})"
            )


def _beside(rows: Sequence[dict[str, str]], method: str, chosen: set[str] | None) -> str:
    """The accuracy of a method, and that of readable rules on the same tables and splits."""
    both = [row for row in shared(rows, (DEFAULT, method), "0") if chosen is None or row["table"] in chosen]
    accuracy = means(both)
    have = sorted({row["table"] for row in both})
    if not have:
        return f"{method} not run"
    own, theirs = (
        100 * np.mean([accuracy[name, "0", table] for table in have]) for name in (DEFAULT, method)
    )
    splits = len({(row["table"], row["split"]) for row in both})
    where = f"{len(have)} tables, {splits} splits in all"
    return f"{method} {theirs:.1f} % ({where})" + (
        "" if method == DEFAULT else f", readable there {own:.1f} %"
    )


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks frontier", description=__doc__)
    parser.add_argument("--print", action="store_true", dest="only_print")
    parser.add_argument("--methods", nargs="+", default=[*SIZED, *UNSIZED], choices=[*SIZED, *UNSIZED])
    parser.add_argument("--tables", nargs="+", default=[table.name for table in FRONTIER])
    parser.add_argument("--splits", type=int, default=SPLITS)
    options = parser.parse_args(arguments)
    if not options.only_print:
        with threadpool_limits(1):
            run(
                [table for table in FRONTIER if table.name in options.tables], options.methods, options.splits
            )
    report(read())
