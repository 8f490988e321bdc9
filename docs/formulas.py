"""Formulas of the site: `$...$` in a line and `$$...$$` on its own become MathML, which browsers draw by themselves.

A hook of MkDocs. No script and no font has to be fetched to see a formula.
"""

import xml.etree.ElementTree as ElementTree
from re import Match
from typing import Any

from latex2mathml.converter import convert
from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor

# After code (190) and escapes (180), so that `$` in code stays what it is.
PRIORITY = 175


class Formula(InlineProcessor):
    """A formula between dollars, `display` between two of them."""

    def __init__(self, pattern: str, md: Markdown, display: str) -> None:
        super().__init__(pattern, md)
        self.display = display

    def handleMatch(self, m: Match[str], data: str) -> tuple[str, int, int]:  # type: ignore[override]  # noqa: N802
        """The formula as MathML, stowed away so that nothing else changes it."""
        drawn = convert(m.group(1).strip(), display=self.display)
        ElementTree.fromstring(drawn)  # raises where the formula made no sense
        return self.md.htmlStash.store(drawn), m.start(0), m.end(0)


class Formulas(Extension):
    """Both kinds of formulas."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        """Register them, the longer mark first."""
        md.inlinePatterns.register(Formula(r"\$\$(.+?)\$\$", md, "block"), "formula-block", PRIORITY + 1)
        inline = Formula(r"\$(?![\s$])([^$\n]+?)(?<!\s)\$", md, "inline")
        md.inlinePatterns.register(inline, "formula", PRIORITY)


def on_config(config: Any) -> Any:
    """Add the formulas to the extensions that MkDocs uses."""
    config["markdown_extensions"].append(Formulas())
    return config
