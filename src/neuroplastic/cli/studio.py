"""`neuroplastic studio`: a local web page on agents, rules, tables, runs and studies."""

from __future__ import annotations

import argparse
from typing import Any

from .arguments import add_import, installed, whole


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    here = (
        ""
        if installed("starlette", "uvicorn", "websockets")
        else " (not installed: pip install 'neuroplastic[studio]')"
    )
    command = commands.add_parser(
        "studio",
        help=f"watch agents, turn rules, fit tables in a browser{here}",
        description="Serves a web page on this machine and opens it. It is reached from this machine alone, unless "
        "--host says otherwise: then only with the token that is printed.",
    )
    command.add_argument(
        "source",
        nargs="?",
        metavar="RUN|MODEL|TASK|FILE.csv",
        help="what to open (default: DTC, the agent in the box)",
    )
    command.add_argument(
        "--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1, this machine alone)"
    )
    command.add_argument("--port", type=whole(0), default=8600, help="default: 8600; 0: any that is free")
    command.add_argument(
        "--runs", default="runs", metavar="FOLDER", help="where runs lie and new ones go (default: runs)"
    )
    command.add_argument(
        "--models",
        default="models",
        metavar="FOLDER",
        help="where models lie and new ones go (default: models)",
    )
    command.add_argument(
        "--studies",
        metavar="STUDIES",
        help="a storage, a study's .csv or .json, or a folder of those (default: studies.db, if there)",
    )
    command.add_argument(
        "--no-browser", action="store_true", help="print the address, and open no browser on it"
    )
    command.add_argument(
        "--threads",
        dest="threads_each",
        type=whole(1),
        default=1,
        help="threads that each fit and each run computes with (default: 1)",
    )
    add_import(command)
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Serve until interrupted."""
    from ..studio.serving import serve

    serve(
        options.source,
        host=options.host,
        port=options.port,
        runs=options.runs,
        models=options.models,
        studies=options.studies,
        threads=options.threads_each,
        show=not options.no_browser,
        say=lambda line: print(line, flush=True),
    )
    return 0
