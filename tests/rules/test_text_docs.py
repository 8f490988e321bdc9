"""The page on rule text says what is so: its examples run and print what it shows."""

import contextlib
import io
import re
from pathlib import Path

from neuroplastic.rules.text import parser

PAGE = Path(__file__).parents[2] / "docs" / "rules_text.md"


def test_the_examples_of_the_page_print_what_it_shows():
    blocks = re.findall(r"```(python|text)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names, shown, checked = {}, None, 0
    for kind, content in blocks:
        if kind == "python":
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(compile(content, str(PAGE), "exec"), names)
            shown = output.getvalue()
        elif shown is not None:
            assert content == shown
            shown, checked = None, checked + 1
    assert checked == 4


def test_the_grammar_of_the_page_is_that_of_the_parser():
    grammar = [line.strip() for line in parser.__doc__.splitlines() if " = " in line]
    page = PAGE.read_text(encoding="utf-8")
    assert len(grammar) == 6
    assert all(line in page for line in grammar)
