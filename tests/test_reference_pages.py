"""The reference of the public names: every one is there, once, with an example that runs."""

import argparse
import importlib.util
import re

import neuroplastic as npl
from neuroplastic.cli.main import parser
from tests.pages import DOCS


def entries() -> list[tuple[str, str]]:
    """Public names in the order of the pages, each with what follows it up to the next."""
    found = []
    for page in sorted((DOCS / "reference").glob("*.md")):
        parts = re.split(r"^::: neuroplastic\.(\w+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
        found += list(zip(parts[1::2], parts[2::2], strict=True))
    return found


def test_every_public_name_has_one_entry_in_the_reference():
    assert sorted(name for name, _ in entries()) == sorted(npl.__all__)


def test_every_entry_has_an_example_that_uses_the_name():
    for name, text in entries():
        examples = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
        assert any(re.search(rf"\bnpl\.{name}\b", example) for example in examples), name


def test_every_command_has_its_help_in_the_reference():
    asked = re.findall(
        r"<!-- help: (.*) -->", (DOCS / "reference" / "commands.md").read_text(encoding="utf-8")
    )
    assert sorted(asked) == sorted(commands(parser()))


def commands(of: argparse.ArgumentParser, before: str = "") -> list[str]:
    """All commands of a parser that have no commands of their own."""
    below = [action.choices for action in of._actions if isinstance(action, argparse._SubParsersAction)]
    if not below:
        return [before.strip()]
    return [name for word, sub in below[0].items() for name in commands(sub, f"{before} {word}")]


def command_help():
    spec = importlib.util.spec_from_file_location("command_help", DOCS / "command_help.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_the_list_of_commands_in_the_repository_is_what_the_command_line_has():
    page = (DOCS / "reference" / "commands.md").read_text(encoding="utf-8")
    assert command_help().with_list(page) == page, "make it anew with: python docs/command_help.py"


def test_the_site_has_the_help_of_every_command():
    page = (DOCS / "reference" / "commands.md").read_text(encoding="utf-8")
    shown = command_help().on_page_markdown(page)
    assert "<!-- help:" not in shown
    assert shown.count("usage: neuroplastic") == len(commands(parser()))
