"""`neuroplastic fit` and `predict`: rules learned from a file of data, and applied to another."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from ..errors import ConfigError
from ..whole_files import write_whole
from .arguments import need_file, new_file, whole


def add_to(commands: Any) -> None:
    """Add the commands to the parser."""
    fit = commands.add_parser(
        "fit",
        help="learn rules from a CSV or Parquet file",
        description="Learn rules from a table, cross-validate them, and write a folder with the model and one page "
        "of scores, rules and pictures. Text columns become categories, missing numbers the column's median.",
    )
    fit.add_argument("data", metavar="FILE", help="a .csv or .parquet file with a header")
    fit.add_argument("--target", required=True, metavar="COLUMN", help="the column to predict")
    fit.add_argument("--out", default="model", metavar="FOLDER", help="where the model goes (default: model)")
    fit.add_argument("--force", action="store_true", help="replace the model that is there")
    fit.add_argument(
        "--ignore", action="append", default=[], metavar="COLUMN", help="leave a column out (repeatable)"
    )
    fit.add_argument(
        "--task",
        choices=("auto", "classes", "number"),
        default="auto",
        help="what the target is (default: classes if it is text or few whole numbers)",
    )
    fit.add_argument("--rules", type=whole(1), default=None, help="rules to learn (default: the estimator's)")
    fit.add_argument(
        "--portable",
        action="store_true",
        help="rules that FML, FCL and .fis can say: firing without layer norm",
    )
    fit.add_argument("--folds", type=whole(2), default=5, help="folds of the cross-validation (default: 5)")
    fit.add_argument("--seed", type=whole(0), default=0, help="of folds and training (default: 0)")
    fit.set_defaults(run=run_fit)
    predict = commands.add_parser("predict", help="predict the rows of a file with a fitted model")
    predict.add_argument("model", metavar="MODEL", help="a folder made by fit")
    predict.add_argument("data", metavar="FILE", help="a .csv or .parquet file")
    predict.add_argument("--out", metavar="FILE", help="write a CSV here (default: print it)")
    predict.set_defaults(run=run_predict)


def run_fit(options: argparse.Namespace) -> int:
    """Cross-validate, fit to all rows, write model and page."""
    need_file(options.data)
    if options.target in options.ignore:
        raise ConfigError(f"--ignore {options.target!r} is the target; ignore other columns")
    from ..learn.columns import Columns, read_table
    from ..learn.table_model import FILES, TableModel, estimator_for, usable_rows
    from ..report.folder import PAGE, check_folder, write_report
    from ..report.from_table import table_report

    out = check_folder(_possible(options.out), force=options.force, beside=FILES)
    frame = read_table(options.data)
    classes = {"auto": None, "classes": True, "number": False}[options.task]
    columns = Columns.of(frame, options.target, classes=classes, ignore=options.ignore)
    rows = usable_rows(frame, columns)
    x, y = columns.matrix(rows), columns.targets(rows)
    constant = [name for name in x.columns if x[name].nunique() == 1]
    what = f"{len(set(y))} classes" if columns.classes else "a number"
    print(f"{len(rows)} rows, {x.shape[1]} inputs; {options.target!r} is {what}")
    notes = _notes(frame, rows, columns)
    notes += [f"{name!r} has the same value in all rows, so it says nothing." for name in constant]
    for note in notes:
        print(f"note: {note}")
    settings: dict[str, Any] = {"random_state": options.seed}
    if options.rules is not None:
        settings["rules"] = options.rules
    if options.portable:
        settings["layer_norm"] = False
    scores = _cross_validated(columns, settings, x, y, options)
    kind = estimator_for(columns)
    before = kind(**settings).start(x, y).rules_
    estimator = kind(verbose=1, **settings).fit(x, y)
    report = table_report(
        f"Rules for {options.target}, learned from {Path(options.data).name}",
        estimator,
        x,
        scores,
        before=before,
        notes=notes,
    )
    write_report(report, out, force=options.force, beside=FILES, add=TableModel(columns, estimator).save)
    print(f"\n{estimator.rules_.text(premises=4, consequents=3)}\n")
    for line in report.summary:
        print(line)
    print(f"page: {out / PAGE}; predict with: neuroplastic predict {out} FILE")
    return 0


def _possible(out: str) -> Path:
    """The folder's path, if it is there or can be made: better said before the fit than after it."""
    place = Path(out).absolute()
    above = next(folder for folder in (*place.parents, place) if folder.exists())  # / has no parents
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise ConfigError(f"--out {out} cannot be made: {above} is no folder that may be written to")
    return Path(out)


def _notes(frame: Any, rows: Any, columns: Any) -> list[str]:
    """What was done to the file's values."""
    notes = []
    if len(rows) < len(frame):
        notes.append(f"{len(frame) - len(rows)} rows without a target were left out.")
    for column in columns.inputs:
        missing = int(rows[column.name].isna().sum())
        if missing and column.categories:
            notes.append(f"{missing} missing values of {column.name!r} count as none of its categories.")
        elif missing:
            notes.append(
                f"{missing} missing values of {column.name!r} were taken as its median, {column.fill:g}."
            )
    return notes


def _cross_validated(
    columns: Any, settings: dict[str, Any], x: Any, y: Any, options: argparse.Namespace
) -> dict[str, list[float]]:
    """Scores of each fold, by name."""
    import numpy as np
    from sklearn.metrics import accuracy_score, balanced_accuracy_score, mean_absolute_error, r2_score
    from sklearn.model_selection import KFold, StratifiedKFold
    from tqdm import tqdm

    from ..learn.table_model import estimator_for

    measures = (
        {"accuracy": accuracy_score, "balanced accuracy": balanced_accuracy_score}
        if columns.classes
        else {"R²": r2_score, "mean absolute error": mean_absolute_error}
    )
    if columns.classes:
        labels, rows = np.unique(y, return_counts=True)
        folds = min(options.folds, int(rows.min()))
        if folds < 2:
            raise ConfigError(
                f"class {labels[rows.argmin()]!r} of {options.target!r} has only one row, so it cannot be "
                "cross-validated; merge or drop that class"
            )
    else:
        folds = min(options.folds, len(x) // 2)  # of a single row R² says nothing
        if folds < 2:
            raise ConfigError(
                f"a number needs at least 4 rows to be cross-validated, but {options.target!r} has {len(x)}; add rows"
            )
    splitter = StratifiedKFold if columns.classes else KFold
    scores: dict[str, list[float]] = {name: [] for name in measures}
    splits = splitter(folds, shuffle=True, random_state=options.seed).split(x, y)
    for train, test in tqdm(splits, total=folds, desc="cross-validation", unit="fold"):
        made = estimator_for(columns)(**settings).fit(x.iloc[train], y.iloc[train]).predict(x.iloc[test])
        for name, measure in measures.items():
            scores[name].append(float(measure(y.iloc[test], made)))
    return scores


def run_predict(options: argparse.Namespace) -> int:
    """Print or write predictions as CSV."""
    need_file(options.data)
    target = None if options.out is None else new_file("--out", options.out)
    from ..learn.table_model import TableModel

    model = TableModel.load(options.model)
    made = model.predict(model.read(options.data))
    if target is None:
        print(made.to_csv(index=False), end="")
        return 0
    write_whole(target, made.to_csv(index=False).encode())
    print(f"{target}: {len(made)} predictions of {model.columns.target!r}")
    return 0
