"""`neuroplastic simplify`: a fitted model with fewer rules, sets and premises."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from .arguments import add_threads, need_file, positive


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    simplify = commands.add_parser(
        "simplify",
        help="fewer rules, sets and premises of a fitted model",
        description="Takes away rules, fuzzy sets and premises that a fitted model can do without, measures what that "
        "changes, and saves the simpler model beside it. predict, rules and explain take it as they take the other.",
    )
    simplify.add_argument("model", metavar="MODEL", help="a folder made by fit")
    simplify.add_argument(
        "--data",
        metavar="FILE",
        help="rows to measure on (default: rows drawn by what the model knows of columns)",
    )
    simplify.add_argument(
        "--tolerance",
        type=positive,
        metavar="T",
        help="largest change of an output, in its standard deviations (default: 0.1)",
    )
    simplify.add_argument(
        "--out", metavar="MODEL2", help="where the simpler model goes (default: MODEL-simple)"
    )
    add_threads(simplify)
    simplify.set_defaults(run=run_simplify)


def run_simplify(options: argparse.Namespace) -> int:
    """Print the report, what is left of the rules, and where the new model is."""
    if options.data is not None:
        need_file(options.data)
    from ..learn.table_model import TableModel
    from ..usecases.simplifying import TOLERANCE, check_new_folder, save_simplified, simplify_table

    given = Path(options.model)
    out = check_new_folder(
        given.with_name(f"{given.resolve().name}-simple") if options.out is None else options.out
    )
    tolerance = TOLERANCE if options.tolerance is None else options.tolerance
    made = simplify_table(TableModel.load(given), options.data, tolerance=tolerance)
    saved = save_simplified(made, out)
    print(f"{made.report}\n")
    print("\n".join(made.lines()))
    print(f"\n{made.rules.text(premises=4)}\n")
    print(f"model: {saved}; read it with: neuroplastic rules {saved}")
    return 0
