"""The page on rule text says what is so: its examples run and print what it shows."""

from neuroplastic.rules.text import parser
from tests.pages import HOW_TO, examples_that_print_what_is_shown

PAGE = HOW_TO / "rules_text.md"


def test_the_examples_of_the_page_print_what_it_shows():
    assert examples_that_print_what_is_shown(PAGE) == 5


def test_the_grammar_of_the_page_is_that_of_the_parser():
    grammar = [line.strip() for line in parser.__doc__.splitlines() if " = " in line]
    page = PAGE.read_text(encoding="utf-8")
    assert len(grammar) == 6
    assert all(line in page for line in grammar)
