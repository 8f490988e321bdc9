"""`neuroplastic fit` and `predict`: rules learned from a file of data, and applied to another."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ..usecases.requests import CLASS_WEIGHTS, TASKS, FitRequest, TableRequest
from ..whole_files import write_whole
from .arguments import FASTER, add_threads, need_file, new_file, of_field, whole
from .printable import printable
from .progress import Stages

if TYPE_CHECKING:
    from ..usecases.preparing import PreparedTable


def add_to(commands: Any) -> None:
    """Add the commands to the parser."""
    fit = commands.add_parser(
        "fit",
        help="learn rules from a CSV or Parquet file",
        description="Learn rules from a table, cross-validate them, and write a folder with the model and one page "
        "of scores, rules and pictures. Text columns become categories, dates days, missing numbers the column's "
        "median.",
    )
    fit.add_argument("data", metavar="FILE", **of_field(TableRequest, "data"))
    fit.add_argument("--target", required=True, metavar="COLUMN", **of_field(TableRequest, "target"))
    fit.add_argument("--out", default="model", metavar="FOLDER", help="where the model goes (default: model)")
    fit.add_argument("--force", action="store_true", help="replace the model that is there")
    fit.add_argument("--ignore", action="append", metavar="COLUMN", **of_field(TableRequest, "ignore"))
    fit.add_argument("--task", choices=TASKS, **of_field(TableRequest, "task"))
    fit.add_argument("--rules", type=whole(1), **of_field(FitRequest, "rules"))
    fit.add_argument("--readable", action="store_true", **of_field(FitRequest, "readable"))
    fit.add_argument("--max-rules", type=whole(1), **of_field(FitRequest, "max_rules"))
    fit.add_argument("--max-premises", type=whole(1), **of_field(FitRequest, "max_premises"))
    fit.add_argument("--max-size", type=whole(1), **of_field(FitRequest, "max_size"))
    fit.add_argument("--class-weight", choices=CLASS_WEIGHTS, **of_field(FitRequest, "class_weight"))
    fit.add_argument("--portable", action="store_true", **of_field(FitRequest, "portable"))
    fit.add_argument("--folds", type=whole(2), **of_field(FitRequest, "folds"))
    fit.add_argument("--seed", type=whole(0), **of_field(FitRequest, "seed"))
    fit.add_argument(
        "--no-baselines", dest="baselines", action="store_false", **of_field(FitRequest, "baselines")
    )
    add_threads(fit, default=FASTER)
    fit.set_defaults(run=run_fit)
    predict = commands.add_parser("predict", help="predict the rows of a file with a fitted model")
    predict.add_argument("model", metavar="MODEL", help="a folder made by fit")
    predict.add_argument("data", metavar="FILE", help="a .csv or .parquet file")
    predict.add_argument("--out", metavar="FILE", help="write a CSV here (default: print it)")
    predict.add_argument(
        "--notes",
        action="store_true",
        help="a last column says what is unusual about a row: values outside the range of training, missing ones, "
        "categories never seen",
    )
    add_threads(predict)
    predict.set_defaults(run=run_predict)


def run_fit(options: argparse.Namespace) -> int:
    """Print what the table holds, the rules learned from it, their scores, if they decide, and where the page is."""
    need_file(options.data)
    wanted = TableRequest(options.data, options.target, options.task, tuple(options.ignore))
    how = FitRequest(
        options.rules,
        options.portable,
        options.folds,
        options.seed,
        options.baselines,
        options.readable,
        options.max_rules,
        options.max_premises,
        options.max_size,
        options.class_weight,
    )
    from ..usecases.cross_validation import fold_notes
    from ..usecases.devices import threads_in_use
    from ..usecases.table_pages import check_place, save_table
    from ..usecases.tables import fit_table

    check_place(options.out, force=options.force)
    table = _prepared(wanted)
    print(table.summary)
    for note in (*table.notes, *fold_notes(table, how.folds)):
        print(f"note: {note}")
    sys.stdout.flush()  # before the progress, where both go to one file
    with threads_in_use(options.computing_threads), Stages() as stages:
        fitted = fit_table(table, how, on_progress=stages)
    saved = save_table(fitted, options.out, force=options.force)
    print(f"\n{fitted.rules.text(premises=4)}\n")
    for line in saved.summary:
        print(line)
    if fitted.comparison is not None:
        print()
        print("\n".join(fitted.comparison.lines()))
    print(f"\n{fitted.diagnosis}\n")
    print(f"page: {saved.page}; predict with: neuroplastic predict {saved.folder} FILE")
    return 0


def _prepared(wanted: TableRequest) -> PreparedTable:
    """The table; where its columns are refused, the option that helps is named."""
    from ..learn.columns import MixedTargetError
    from ..learn.estimators.deciding import UnusableColumnsError
    from ..usecases.preparing import prepare_table

    try:
        return prepare_table(wanted)
    except UnusableColumnsError as error:
        ignoring = " ".join(f"--ignore {name!r}" for name in error.reasons)
        raise InputError(f"{'; '.join(error.reasons.values())}; leave out with {ignoring}") from error
    except MixedTargetError as error:
        raise InputError(f"{error} with --task classes") from error


def run_predict(options: argparse.Namespace) -> int:
    """Print or write predictions as CSV, and say beside them what is unusual about the rows."""
    need_file(options.data)
    target = None if options.out is None else new_file("--out", options.out)
    from ..learn.table_model import TableModel
    from ..usecases.tables import predict_table

    made = predict_table(TableModel.load(options.model), options.data)
    text = made.csv(notes=options.notes)
    if target is None:
        print(text, end="", flush=True)
    else:
        write_whole(target, text.encode())
        print(f"{target}: {len(made.rows)} predictions of {made.target!r}")
    if made.unusual.findings:
        print(f"neuroplastic: {printable(str(made.unusual))}", file=sys.stderr)
    return 0
