"""Readable rules looked at from two sides: `python -m benchmarks.readable_rules found_again` and `... ablation`.

`found_again` fits five seeds, and five samples of two thirds of the rows, and asks which share of a model's rules is
found again in another: the same columns, each on the same side (reaching down to the column's lowest
quarter, up to its highest, or neither or both).
`ablation` leaves out one remedy at a time, on 5 folds x 3 splits of two tables. Both write what they measure to
docs/data/ as it comes; `--print` only prints what is there.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

import neuroplastic as npl
from benchmarks.tables_data import FRONTIER, Table
from neuroplastic.learn.estimators.readable import draft, fitting, learning, leaves, limits, sharing
from neuroplastic.network.starting import HALF

STABLE = ("iris", "wine", "breast_cancer", "pima", "wisconsin")
ABLATED = ("wine", "pima")
SEEDS, SAMPLE, FOLDS, SPLITS = 5, 2 / 3, 5, (11, 12, 13)
FILES = {
    "found_again": Path("docs/data/found_again.csv"),
    "ablation": Path("docs/data/readable_ablation.csv"),
}

Rule = frozenset[tuple[str, str]]


def rules_of(model: Any, x: np.ndarray) -> set[Rule]:
    """Each rule as the columns it asks for and on which side of the data."""
    low, high = np.quantile(x, [0.25, 0.75], axis=0)
    found = set()
    for rule in model.rules_:
        sides = []
        for variable, term in rule.premises:
            place = next(k for k, one in enumerate(model.rules_.inputs) if one.name == variable.name)
            reach = HALF * term.width
            below, above = term.center - reach <= low[place], term.center + reach >= high[place]
            side = "low" if below and not above else "high" if above and not below else "middle"
            sides.append((variable.name, side))
        found.add(frozenset(sides))
    return found


def again(models: list[set[Rule]]) -> float:
    """Mean over ordered pairs of models of the share of one's rules that the other has."""
    shares = [len(one & other) / len(one) for one, other in itertools.permutations(models, 2)]
    return float(np.mean(shares))


def found_again(table: Table) -> tuple[float, float]:
    """The share over seeds, and over samples of the rows."""
    x, y = table.load()
    seeds = [npl.NeuroFuzzyClassifier(readable=True, random_state=seed).fit(x, y) for seed in range(SEEDS)]
    samples = []
    for seed in range(SEEDS):
        some = np.random.RandomState(seed).permutation(len(x))[: int(SAMPLE * len(x))]
        samples.append(npl.NeuroFuzzyClassifier(readable=True, random_state=0).fit(x[some], y[some]))
    return again([rules_of(model, x) for model in seeds]), again([rules_of(model, x) for model in samples])


@contextmanager
def changed(module: Any, **values: Any) -> Iterator[None]:
    """Some constants of a module with other values for a while."""
    before = {name: getattr(module, name) for name in values}
    for name, value in values.items():
        setattr(module, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(module, name, value)


def taught(**changes: Any) -> tuple[Any, dict[str, Any]]:
    """A fit with teachers, some of its course changed."""
    return learning, {"TAUGHT": replace(fitting.TAUGHT, **changes)}


ABLATIONS: dict[str, tuple[Any, dict[str, Any]]] = {
    "all of it": (learning, {}),
    "without the price of not fitting": (draft, {"FITTING": 0.0}),
    "structure as fast as conclusions": taught(structure_rate=1.0),
    "structure at a tenth of that": taught(structure_rate=0.1),
    "no learning, only shedding": (learning, {}),
    "without teachers": (learning, {"MOST_ROWS": 0}),
    "a third of the updates": taught(updates=210),
    "sets widen as they like": taught(bounded=False),
    "no updates at last": taught(at_last=0),
    "premises cost nothing": taught(price=0.0),
    "premises cost five times as much": taught(price=5 * fitting.TAUGHT.price),
    "at most 3 cuts of a column": (leaves, {"CUTS": 3}),
    "shed at once": taught(in_steps=False),
    "at most 40 premises": (limits, {"MOST_PREMISES": 40}),
    "at most 2.9 rules share a decision": (sharing, {"MOST_SHARING": 2.9}),
    "any number of rules share a decision": (sharing, {"MOST_SHARING": math.inf}),
}


def ablated(table: Table, what: str, split: int) -> Iterator[dict[str, object]]:
    """What a fit without one remedy comes to, on each fold of a split."""
    x, y = table.load()
    module, values = ABLATIONS[what]
    rate = 1e-12 if what.startswith("no learning") else 0.02
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=split).split(x, y)
    for fold, (train, test) in enumerate(folds):
        with changed(module, **values):
            model = npl.NeuroFuzzyClassifier(readable=True, learning_rate=rate, random_state=0)
            model.fit(x[train], y[train])
        told = model.diagnose(x[test])
        yield {
            "what": what,
            "table": table.name,
            "split": split,
            "fold": fold,
            "accuracy": round(model.score(x[test], y[test]), 5),
            "premises": int((model.rules_.premises >= 0).sum()),
            "fit": round(told.fit, 4),
            "rules per decision": round(told.rules_per_decision, 4),
            "carry": round(told.carry, 4),
        }


def measured(what: str) -> Iterator[dict[str, object]]:
    """Everything there is to measure, one row after the other."""
    tables = {table.name: table for table in FRONTIER}
    if what == "found_again":
        for name in STABLE:
            seeds, samples = found_again(tables[name])
            yield {
                "table": name,
                "five seeds": round(seeds, 4),
                "five samples of two thirds": round(samples, 4),
            }
        return
    for split, title, name in itertools.product(SPLITS, ABLATIONS, ABLATED):
        yield from ablated(tables[name], title, split)


def write(path: Path, rows: Iterator[dict[str, object]]) -> None:
    """A file of rows, each written as soon as it is there."""
    with path.open("w", newline="") as file:
        for number, row in enumerate(rows):
            writer = csv.DictWriter(file, list(row))
            if not number:
                writer.writeheader()
            writer.writerow(row)
            file.flush()


def report(rows: Sequence[dict[str, str]], keys: Sequence[str]) -> None:
    """The mean of each figure by these keys, as a table."""
    figures = [name for name in rows[0] if name not in (*keys, "split", "fold")]
    print("| " + " | ".join([*keys, *figures]) + " |\n|" + "---|" * (len(keys) + len(figures)))
    groups: dict[tuple[str, ...], list[list[float]]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append([float(row[name]) for name in figures])
    means = {group: np.mean(values, axis=0) for group, values in groups.items()}
    if len(keys) == 1:
        means["mean",] = np.mean(list(means.values()), axis=0)
    for group, mean in means.items():
        cells = [
            f"{100 * value:.1f} %"
            if name == "accuracy"
            else f"{value:.1f}"
            if name == "premises"
            else f"{value:.2f}"
            for name, value in zip(figures, mean, strict=True)
        ]
        print("| " + " | ".join([*group, *cells]) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=tuple(FILES))
    parser.add_argument("--print", action="store_true", dest="only_print")
    options = parser.parse_args()
    path = FILES[options.what]
    if not options.only_print:
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            write(path, measured(options.what))
    with path.open(newline="") as file:
        report(list(csv.DictReader(file)), ("table",) if options.what == "found_again" else ("what", "table"))


if __name__ == "__main__":
    main()
