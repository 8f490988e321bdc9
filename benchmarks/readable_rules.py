"""Readable rules looked at from two sides: `python -m benchmarks.readable_rules found_again` and `... ablation`.

`found_again` fits five seeds, and five samples of two thirds of the rows, and asks which share of a model's rules is
found again in another: the same columns, each on the same side (reaching down to the column's lowest
quarter, up to its highest, or neither or both).
`ablation` leaves out one remedy at a time, on 5 folds of two tables.
"""

from __future__ import annotations

import argparse
import itertools
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

import neuroplastic as npl
from benchmarks.tables_data import FRONTIER, Table
from neuroplastic.learn.estimators.readable import draft, fitting, leaves
from neuroplastic.rules.true_names import HALF

STABLE = ("iris", "wine", "breast_cancer", "pima", "wisconsin")
ABLATED = ("wine", "pima")
SEEDS, SAMPLE, FOLDS = 5, 2 / 3, 5

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


ABLATIONS: dict[str, tuple[Any, dict[str, Any]]] = {
    "all of it": (fitting, {}),
    "without the price of not fitting": (draft, {"FITTING": 0.0}),
    "structure as fast as conclusions": (fitting, {"STRUCTURE_RATE": 1.0}),
    "no learning, only shedding": (fitting, {}),
    "premises cost nothing": (fitting, {"PRICE": 0.0}),
    "premises cost five times as much": (fitting, {"PRICE": 0.5}),
    "at most 3 cuts of a column": (leaves, {"CUTS": 3}),
}


def ablated(table: Table, module: Any, values: dict[str, Any], rate: float = 0.02) -> tuple[float, ...]:
    """Accuracy, premises in all, fit and rules per decision, mean over folds."""
    x, y = table.load()
    rows = []
    with changed(module, **values):
        for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=11).split(x, y):
            model = npl.NeuroFuzzyClassifier(readable=True, learning_rate=rate, random_state=0)
            model.fit(x[train], y[train])
            told = model.diagnose(x[test])
            size = int((model.rules_.premises >= 0).sum())
            rows.append((model.score(x[test], y[test]), size, told.fit, told.rules_per_decision, told.carry))
    return tuple(np.mean(rows, axis=0))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("found_again", "ablation"))
    what = parser.parse_args().what
    tables = {table.name: table for table in FRONTIER}
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        if what == "found_again":
            print("| table | five seeds | five samples of two thirds |\n|---|---|---|")
            found = [found_again(tables[name]) for name in STABLE]
            for name, (seeds, samples) in zip(STABLE, found, strict=True):
                print(f"| {name} | {seeds:.2f} | {samples:.2f} |")
            print("| mean | " + " | ".join(f"{mean:.2f}" for mean in np.mean(found, axis=0)) + " |")
            return
        print(
            "| | table | accuracy | premises | fit | rules per decision | carry |\n|---|---|---|---|---|---|---|"
        )
        for title, (module, values) in ABLATIONS.items():
            for name in ABLATED:
                rate = 1e-12 if title.startswith("no learning") else 0.02
                figures = ablated(tables[name], module, values, rate)
                print(
                    f"| {title} | {name} | {100 * figures[0]:.1f} % | {figures[1]:.1f} | "
                    + " | ".join(f"{figure:.2f}" for figure in figures[2:])
                    + " |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
