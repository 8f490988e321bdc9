"""`neuroplastic report`: the paper's tables and figures from studies, as one page."""

from __future__ import annotations

import argparse
from typing import Any

from ..errors import ConfigError
from ..usecases.progress import Headway
from ..usecases.requests import FIRING_SCENARIO
from .arguments import add_threads


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    command = commands.add_parser(
        "report",
        allow_abbrev=False,
        help="make the paper's tables and figures from studies",
        description="Write one page, which needs no network, with all of the paper's tables and figures; "
        "beside it the tables as LaTeX and the figures as PNG and SVG.",
    )
    command.add_argument(
        "studies",
        nargs="*",
        metavar="STUDIES",
        help="a storage (sqlite:///..., postgresql://..., a .db file), a study's .csv or .json, or a folder of those",
    )
    command.add_argument(
        "--paper", action="store_true", help="from the paper's printed tables, recomputed and marked"
    )
    command.add_argument("--out", default="report", metavar="FOLDER", help="where it goes (default: report)")
    command.add_argument("--force", action="store_true", help="replace the report that is there")
    command.add_argument(
        "--scenario",
        default=FIRING_SCENARIO,
        help=f"whose pictures the firing levels are shown for (default: {FIRING_SCENARIO})",
    )
    add_threads(command)
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Make the report; nothing is written before all of it is made."""
    if bool(options.studies) == options.paper:
        raise ConfigError("give STUDIES (a storage, .csv or .json), or --paper alone")
    # Plotting takes a second to import, which other commands should not wait for.
    from ..report.folder import check_folder, write_report
    from ..usecases.reports import paper_page, study_page

    check_folder(options.out, force=options.force)
    if options.paper:
        made = paper_page(scenario=options.scenario)
    else:
        made = study_page(options.studies, scenario=options.scenario, on_progress=_print)
    page = write_report(made, options.out, force=options.force)
    print(f"report: {page}")
    return 0


def _print(headway: Headway) -> None:
    print(headway.figures, flush=True)
