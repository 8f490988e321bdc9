"""The page of the commands shows what `--help` prints: `<!-- help: study run -->` becomes that text.

A hook of MkDocs, so the page cannot fall behind the command line.
"""

import contextlib
import io
import os
import re
import textwrap
from re import Match
from typing import Any

WIDTH = "100"


def help_of(command: str) -> str:
    """What `neuroplastic COMMAND --help` prints."""
    from neuroplastic.cli.main import parser

    output, before = io.StringIO(), os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = WIDTH
    try:
        with contextlib.redirect_stdout(output), contextlib.suppress(SystemExit):
            parser().parse_args([*command.split(), "--help"])
    finally:
        if before is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = before
    return output.getvalue()


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the texts where they are asked for."""

    def shown(match: Match[str]) -> str:
        text = help_of(match.group(1))
        if not text.startswith("usage:"):
            raise ValueError(f"neuroplastic {match.group(1)} has no help")
        return f"```console\n$ neuroplastic {match.group(1)} --help\n{textwrap.dedent(text)}```"

    return re.sub(r"<!-- help: ([a-z ]+?) -->", shown, markdown)
