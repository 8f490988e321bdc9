"""The table of docs/students.md, made of the rows of docs/data/students.csv: `python -m benchmarks students --table`.

Of each task, teacher (known by its digest), way of fitting and seed from 0 to 2 the last row counts. A row that tells
agreement weighted by what is at stake is of a student that was fitted as it is done now, its rules moved and rewritten;
earlier ones were fitted with 210 updates and no more. `carry` stands beside 1 less the share of the student's commonest
action: for rules that conclude constants it is 1 less the share of that action that the average of all rules names,
which is mostly the commonest.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean

Row = dict[str, str]
SEEDS = ("0", "1", "2")
ROUNDING = 1e-3
COLUMNS = (
    *("task", "teacher", "fitted", "teacher's score", "students' scores", "above random", "agreement"),
    *(
        "at stake",
        "as good",
        "fit",
        "carry",
        "1 - commonest",
        "rules that lead",
        "tree's scores",
        "tree's agreement",
    ),
)


def table(file: Path) -> str:
    """The table as Markdown."""
    from neuroplastic.doom.scenarios import SCENARIOS

    groups: dict[tuple[str, str, str, bool], dict[str, dict[str, Row]]] = {}
    with file.open(newline="") as text:
        for row in csv.DictReader(text):
            if row["seed"] in SEEDS:
                key = (row["task"], row["teacher"], row["teacher_digest"], bool(row["weighted"]))
                groups.setdefault(key, {}).setdefault(row["kind"], {})[row["seed"]] = row
    order = {key: place for place, key in enumerate(SCENARIOS)}
    lines = [_line(COLUMNS), _line(["---"] * len(COLUMNS))]
    for key in sorted(groups, key=lambda key: (order[key[0]], key[1] != "scripted", key[2:])):
        task, teacher, digest, anew = key
        students, trees = (_by_seed(groups[key].get(kind, {})) for kind in ("rules", "tree"))
        if students:
            who = [task, f"{teacher} {digest}".strip(), "now" if anew else "before"]
            lines.append(_line([*who, *_cells(students, trees, SCENARIOS[task].random_play)]))
    told = [row for of in groups.values() for row in _by_seed(of.get("rules", {})) if row["most_common"]]
    alike = [row for row in told if abs(float(row["carry"]) + float(row["most_common"]) - 1) < ROUNDING]
    lines += [
        "",
        f"`carry` is 1 less the share of the commonest action in {len(alike)} of {len(told)} students.",
    ]
    return "\n".join(lines)


def _by_seed(rows: dict[str, Row]) -> list[Row]:
    return [rows[seed] for seed in SEEDS if seed in rows]


def _cells(students: Sequence[Row], trees: Sequence[Row], random: float) -> list[str]:
    teacher = float(students[0]["teacher_score"])
    above = (fmean(float(row["score"]) for row in students) - random) / (teacher - random)
    common = [{**row, "rest": str(1 - float(row["most_common"]))} for row in students if row["most_common"]]
    return [
        f"{teacher:.4g}",
        _all(students, "score", "{:.4g}"),
        f"{100 * above:.0f} %",
        _all(students, "agreement"),
        _all(students, "weighted"),
        _all(students, "as_good"),
        _all(students, "fit"),
        _all(students, "carry"),
        _all(common, "rest"),
        ", ".join(row["used_rules"] for row in students if row["used_rules"]) or "-",
        _all(trees, "score", "{:.4g}"),
        _all(trees, "agreement"),
    ]


def _all(rows: Iterable[Row], name: str, form: str = "{:.2f}") -> str:
    shown = [re.sub(r"^0\.", ".", form.format(float(row[name]))) for row in rows if row[name]]
    return ", ".join(shown) or "-"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
