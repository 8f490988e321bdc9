"""`neuroplastic`: rules from tables of data, agents that play DOOM, studies of them, and what they learned."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import warnings
from collections.abc import Iterator, Sequence

from .. import __version__, catalog
from ..errors import NeuroplasticError, in_short
from . import game, report, rules, simplify, studio, study, table, teach
from .arguments import Arguments
from .printable import printable, printable_output
from .terminating import code_of, terminable

# Packages of an extra that some command imports only as it runs.
_EXTRAS = {
    "captum": "rules",
    "defusedxml": "rules",
    "imageio_ffmpeg": "doom",
    "jinja2": "table",
    "matplotlib": "rules",
    "onnx": "rules",
    "pandas": "table",
    "pingouin": "study",
    "scipy": "study",
    "sklearn": "table",
    "starlette": "studio",
    "uvicorn": "studio",
}


def parser() -> Arguments:
    """The whole command line."""
    root = Arguments(
        prog="neuroplastic",
        description="Neuro-fuzzy networks that learn their rules and grow their fuzzy sets while they train.",
        epilog="neuroplastic COMMAND --help says more about a command.",
    )
    root.add_argument("--version", action="version", version=f"neuroplastic {__version__}")
    commands = root.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for module in (table, rules, simplify, game, teach, study, report, studio):
        module.add_to(commands)
    return root


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return the exit code. A user's mistake prints one line, not a traceback."""
    warnings.showwarning = _show_warning  # type: ignore[assignment]
    try:
        options, rest = parser().parse_known_args(sys.argv[1:] if arguments is None else arguments)
        if options.parser.takes_fields:
            options.fields = rest
        else:
            options.parser.check_unknown(rest)
        _import_own(options)
        with terminable(), printable_output(), _threads(options):
            code: int = options.run(options)
        sys.stdout.flush()
    except NeuroplasticError as error:
        return _complain(str(error))
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        if package not in _EXTRAS:
            raise
        return _complain(f"this needs {package}: pip install 'neuroplastic[{_EXTRAS[package]}]'")
    except BrokenPipeError as error:
        return 0 if _nobody_reads() else _complain(str(error))
    except OSError as error:
        return _complain(str(error) if error.filename is None else f"{error.filename}: {error.strerror}")
    except KeyboardInterrupt as error:
        return _complain("stopped", code_of(error))
    return code


def _import_own(options: argparse.Namespace) -> None:
    """Import the user's own modules, from the present folder too: a command's path does not lead there by itself."""
    named: list[str] = getattr(options, "modules", [])
    here = os.getcwd()
    if here not in sys.path and (named or ":" in (getattr(options, "task", None) or "")):
        sys.path.append(here)  # at the end: nothing in it hides an installed package
    for module in named:
        catalog.import_own(module)


@contextlib.contextmanager
def _threads(options: argparse.Namespace) -> Iterator[None]:
    """Compute with as many threads as were asked for; 0: the command finds out how many are faster.

    PyTorch reads the variables when it is imported, which takes a second that a mistyped file should not cost.
    """
    wanted: int = getattr(options, "computing_threads", 0)
    if not wanted:
        yield
        return
    variables = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(dict.fromkeys(variables, str(wanted)))
    torch = sys.modules.get("torch")
    threads = None if torch is None else torch.get_num_threads()
    if torch is not None:
        torch.set_num_threads(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})
        if torch is not None:
            torch.set_num_threads(threads)


def _nobody_reads() -> bool:
    """Whether the reader of the output has gone; then what is left of it is not written at the end, either."""
    try:
        print(flush=True)  # whether the pipe that broke was this one, only a further line can tell
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
        return True
    return False


def _complain(message: str, code: int = 2) -> int:
    print(f"neuroplastic: {printable(in_short(message, 1000))}", file=sys.stderr)
    return code


def _show_warning(message: Warning | str, *_: object) -> None:
    print(f"neuroplastic: {printable(str(message))}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
