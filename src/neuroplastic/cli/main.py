"""`neuroplastic`: rules from tables of data, agents that play DOOM, studies of them, and what they learned."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module

from .. import __version__
from ..errors import MissingPackageError, NeuroplasticError
from . import report, rules, table

# Commands whose modules need the game; where it is not installed, the others still work.
_GAME = {"train": ("train",), "play": ("evaluate", "record", "runs"), "study": ("study",)}


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    root = argparse.ArgumentParser(
        prog="neuroplastic",
        description="Neuro-fuzzy networks that learn their rules and grow their fuzzy sets while they train.",
    )
    root.add_argument("--version", action="version", version=f"neuroplastic {__version__}")
    commands = root.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for module, names in _GAME.items():
        try:
            import_module(f".{module}", __package__).add_to(commands)
        except MissingPackageError as error:
            for name in names:
                commands.add_parser(name, help=f"not available: {error}").set_defaults(run=_missing(error))
    for present in (table, rules, report):
        present.add_to(commands)
    return root


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return the exit code. A user's mistake prints one line, not a traceback."""
    warnings.showwarning = _show_warning  # type: ignore[assignment]
    root = parser()
    options, rest = root.parse_known_args(arguments)
    if options.command == "train":
        options.fields = rest
    elif rest and not hasattr(options.run, "missing"):
        root.error(f"unknown arguments: {' '.join(rest)}")
    try:
        code: int = options.run(options)
    except NeuroplasticError as error:
        print(f"neuroplastic: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        return 0
    return code


def _missing(error: MissingPackageError) -> Callable[[argparse.Namespace], int]:
    """What a command does whose packages are not installed: say so."""

    def run(_: argparse.Namespace) -> int:
        raise error

    run.missing = True  # type: ignore[attr-defined]
    return run


def _show_warning(message: Warning | str, *_: object) -> None:
    print(f"neuroplastic: {message}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
