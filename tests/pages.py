"""Pages of the documentation whose examples are run."""

import contextlib
import io
import re
from pathlib import Path
from typing import Any, NamedTuple

DOCS = Path(__file__).parents[1] / "docs"
HOW_TO = DOCS / "how_to"


class Worked(NamedTuple):
    """What became of a page: all that its code defined, and how many of its outputs were checked."""

    names: dict[str, Any]
    checked: int


def worked_through(page: Path) -> Worked:
    """Run a page's Python in order; what a block prints must be the text block that follows."""
    blocks = re.findall(r"```(python|text)\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    shown, checked = None, 0
    for kind, content in blocks:
        if kind == "python":
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(compile(content, str(page), "exec"), names)
            shown = output.getvalue()
        elif shown is not None:
            assert content == shown
            shown, checked = None, checked + 1
    return Worked(names, checked)


def examples_that_print_what_is_shown(page: Path) -> int:
    """Run a page's Python in order; what a block prints must be the text block that follows. How many there are."""
    return worked_through(page).checked
