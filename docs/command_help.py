"""The page of the commands shows what `--help` prints: `<!-- help: study run -->` becomes that text.

A hook of MkDocs, so the page cannot fall behind the command line. The list at the top of the page is in the repository;
`python docs/command_help.py` writes it anew.
"""

import contextlib
import io
import os
import re
import textwrap
from argparse import ArgumentParser, _SubParsersAction
from collections.abc import Iterator
from pathlib import Path
from re import Match
from typing import Any

WIDTH = "100"
PAGE = Path(__file__).parent / "reference" / "commands.md"
BEGIN, END = "<!-- list of commands -->", "<!-- end of the list -->"


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

    return re.sub(r"<!-- help: ([a-z]+(?:[ -][a-z]+)*) -->", shown, markdown)


def commands(parser: ArgumentParser, before: str = "") -> Iterator[tuple[str, str]]:
    """Every command with the line that says what it does; of one that has commands of its own, these."""
    for action in parser._actions:
        if isinstance(action, _SubParsersAction):
            for about in action._choices_actions:
                inner = list(commands(action.choices[about.dest], f"{before}{about.dest} "))
                yield from inner or [(f"{before}{about.dest}", str(about.help))]


def with_list(page: str) -> str:
    """The page with the list of commands as they are now."""
    from neuroplastic.cli.main import parser

    rows = [f"| [`{name}`](#{name.replace(' ', '-')}) | {what} |" for name, what in commands(parser())]
    made = "\n".join([BEGIN, "", "| command | |", "|---|---|", *rows, "", END])
    start, end = page.index(BEGIN), page.index(END) + len(END)
    return page[:start] + made + page[end:]


if __name__ == "__main__":
    PAGE.write_text(with_list(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
