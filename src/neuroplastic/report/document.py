"""What a report is made of: sections of tables and figures, each with a line on how to read it."""

from __future__ import annotations

from dataclasses import dataclass, field

EQUAL, ROUNDED, DIFFERS, SLIP = "equal", "rounded", "differs", "slip"
"""A printed number recomputed: the same; the same as far as rounded tables can say; not so; a slip of the paper."""


@dataclass(frozen=True)
class Symbol:
    """A heading as text and as LaTeX."""

    text: str
    latex: str


@dataclass(frozen=True)
class Cell:
    """One entry of a table."""

    text: str
    bold: bool = False
    highlighted: bool = False
    """among what explains 90 %"""
    shade: float = 0.0
    """0 (white) to 1 (black)"""
    mark: str = ""
    """EQUAL, ROUNDED, DIFFERS or SLIP where a printed number was recomputed"""
    note: str = ""
    """shown small beside it"""


@dataclass(frozen=True)
class Table:
    """A table; `key` names its LaTeX file. A rule is drawn above each row whose number is in `breaks`."""

    key: str
    caption: str
    how_to_read: str
    header: tuple[Symbol | str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    breaks: tuple[int, ...] = ()


@dataclass(frozen=True)
class Figure:
    """A figure, drawn; `key` names its files."""

    key: str
    caption: str
    how_to_read: str
    png: bytes = field(repr=False)
    svg: bytes = field(repr=False)


@dataclass(frozen=True)
class SetPicture:
    """A fuzzy set over the histogram of its column, as paths in a box of 100 by 40."""

    column: str
    name: str
    histogram: str
    curve: str
    low: str
    """what stands at the left end"""
    high: str


@dataclass(frozen=True)
class RuleCard:
    """One rule: what it says, the rows it leads, and its sets."""

    number: int
    sentence: str
    cases: float
    share: float
    """of all rows"""
    pictures: tuple[SetPicture, ...]
    left_out: int
    """premises that are not drawn"""


@dataclass(frozen=True)
class RuleCards:
    """Cards, one a rule."""

    key: str
    caption: str
    how_to_read: str
    cards: tuple[RuleCard, ...]


@dataclass(frozen=True)
class WhatIf:
    """Sliders for the inputs of rules, which the page computes itself."""

    key: str
    caption: str
    how_to_read: str
    content: str = field(repr=False)
    """JSON that can stand in a script element, see `what_if.safe_json`"""


Part = Table | Figure | RuleCards | WhatIf


@dataclass(frozen=True)
class Section:
    """A heading with tables, figures, and notes on what could not be made or was found."""

    title: str
    parts: tuple[Part, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def tables(self) -> tuple[Table, ...]:
        """Its tables."""
        return tuple(part for part in self.parts if isinstance(part, Table))

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Its figures."""
        return tuple(part for part in self.parts if isinstance(part, Figure))


@dataclass(frozen=True)
class Report:
    """The whole page."""

    title: str
    summary: tuple[str, ...]
    sections: tuple[Section, ...]

    @property
    def marks(self) -> dict[str, int]:
        """How many recomputed numbers have which mark."""
        counts = {EQUAL: 0, ROUNDED: 0, DIFFERS: 0, SLIP: 0}
        for section in self.sections:
            for table in section.tables:
                for row in table.rows:
                    for cell in row:
                        if cell.mark:
                            counts[cell.mark] += 1
        return counts


def text_cells(*texts: str) -> tuple[Cell, ...]:
    """A row of plain entries."""
    return tuple(Cell(text) for text in texts)
