"""Settings of readable rules on tables that are never reported: `python -m benchmarks.choosing FILE`.

Every variant is fitted on the same rows of each table of benchmarks/choice_tables.py; rows are written as they come,
in the form of docs/data/readable_trials.csv. `--tables`, `--variants` and `--numbers` choose.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

import neuroplastic as npl
from benchmarks.choice_tables import CHOICE, split
from benchmarks.readable_rules import changed, taught
from neuroplastic.learn.estimators.readable import limits, sharing

FIELDS = (
    *("series", "variant", "table", "split", "fold", "accuracy", "size", "seconds", "rules"),
    *("fit", "premises", "rules_per_decision", "carry"),
)


def room(premises: int, together: float) -> list[tuple[Any, dict[str, Any]]]:
    """At most so many premises in all, and so many rules that share a decision."""
    return [(limits, {"MOST_PREMISES": premises}), (sharing, {"MOST_SHARING": together})]


VARIANTS: dict[str, list[tuple[Any, dict[str, Any]]]] = {
    "40": room(40, 2.9),
    "40, sharing 4": room(40, 4.0),
    "60": room(60, 2.9),
    "60, sharing 3.5": room(60, 3.5),
    "60, sharing 4": room(60, 4.0),
    "60, sharing 4, price .05": [*room(60, 4.0), taught(price=0.05)],
    "80, sharing 4, price .05": [*room(80, 4.0), taught(price=0.05)],
}


def fitted(variant: str, table: str, number: int) -> dict[str, object]:
    """One model on the rows of one draw."""
    x_train, y_train, x_test, y_test = split(table, number)
    began = time.process_time()
    with ExitStack() as stack:
        for module, values in VARIANTS[variant]:
            stack.enter_context(changed(module, **values))
        model = npl.NeuroFuzzyClassifier(readable=True).fit(x_train, y_train)
    seconds, told = time.process_time() - began, model.diagnose(x_test)
    figures = ("fit", "premises", "rules_per_decision", "carry")
    return {
        **{"variant": variant, "table": table, "split": 0, "fold": number, "rules": told.rules},
        **{"accuracy": round(model.score(x_test, y_test), 5), "seconds": round(seconds, 2)},
        **{"size": int((model.rules_.premises >= 0).sum())},
        **{name: round(getattr(told, name), 4) for name in figures},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--series", default="9")
    parser.add_argument("--tables", nargs="+", default=CHOICE)
    parser.add_argument("--variants", nargs="+", default=[*VARIANTS], choices=[*VARIANTS])
    parser.add_argument("--numbers", nargs="+", type=int, default=[0])
    options = parser.parse_args()
    with options.file.open("w", newline="") as file, threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        for number in options.numbers:
            for table in options.tables:
                for variant in options.variants:
                    writer.writerow({"series": options.series} | fitted(variant, table, number))
                    file.flush()


if __name__ == "__main__":
    main()
