"""How a use of a file ended: fine, refused in a line that names it, or what is wrong."""

import io
import re
import traceback
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from typing import Any

import neuroplastic as npl
import neuroplastic.cli.main as command_line

# Made once for all commands of a process: that takes longer than to refuse a file.
command_line.parser = cache(command_line.parser)
# What a terminal takes for a command: everything below the space but line end and tabulator, and the second set.
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class Terminal(io.StringIO):
    """Where a person looks on."""

    def isatty(self) -> bool:
        return True


def outcome(action: Callable[[], Any], file: str) -> str:
    """'fine', 'refused', or what is wrong: an error that is not ours, or one that does not name the file."""
    try:
        action()
    except npl.NeuroplasticError as error:
        text = str(error)
        if "\n" in text or len(text) > 1000:
            return f"an error of more than a line: {text[:300]!r}"
        return "refused" if file in text else f"an error that names no file: {text[:300]}"
    except Exception as error:
        return f"raw {type(error).__name__}: {_shown(error)}"
    return "fine"


def command(*words: str) -> str:
    """'fine', 'refused', or what is wrong with how a command ends."""
    out, err = Terminal(), io.StringIO()
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = command_line.main(words)
    except BaseException as error:
        return f"raw {type(error).__name__} of {words[0]}: {_shown(error)}"
    said = err.getvalue()
    found = CONTROL.search(out.getvalue()) or CONTROL.search(said)
    if found is not None:
        return f"{words[0]} prints the control character {found.group()!r}"
    if code == 0:
        return "fine"
    last = said.rstrip("\n").rpartition("\n")[2]  # above it, how far the command was
    if code != 2 or not last.startswith("neuroplastic: ") or len(last) > 1200:
        return f"{words[0]} ended with {code}: {said[:300]!r}"
    return "refused"


def _shown(error: BaseException) -> str:
    return f"{str(error)[:300]}\n{''.join(traceback.format_exception(error)[-4:])}"
