"""`neuroplastic`: rules from tables of data, agents that play DOOM, studies of them, and what they learned."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence

from .. import __version__
from ..errors import NeuroplasticError
from . import play, report, rules, study, table, train


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    root = argparse.ArgumentParser(
        prog="neuroplastic",
        description="Neuro-fuzzy networks that learn their rules and grow their fuzzy sets while they train.",
    )
    root.add_argument("--version", action="version", version=f"neuroplastic {__version__}")
    commands = root.add_subparsers(dest="command", required=True, metavar="COMMAND")
    train.add_to(commands)
    play.add_to(commands)
    table.add_to(commands)
    rules.add_to(commands)
    study.add_to(commands)
    report.add_to(commands)
    return root


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return the exit code. A user's mistake prints one line, not a traceback."""
    warnings.showwarning = _show_warning  # type: ignore[assignment]
    root = parser()
    options, rest = root.parse_known_args(arguments)
    if options.command == "train":
        options.fields = rest
    elif rest:
        root.error(f"unknown arguments: {' '.join(rest)}")
    try:
        code: int = options.run(options)
    except NeuroplasticError as error:
        print(f"neuroplastic: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        return 0
    return code


def _show_warning(message: Warning | str, *_: object) -> None:
    print(f"neuroplastic: {message}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
