"""A table as aligned text or as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, markdown: bool) -> str:
    """Rows of cells under a header; all columns but the first are aligned to the right."""
    lines = [list(header), *map(list, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]

    def aligned(cells: Sequence[str]) -> list[str]:
        first, *others = cells
        return [first.ljust(widths[0]), *(c.rjust(w) for c, w in zip(others, widths[1:], strict=True))]

    if not markdown:
        return "\n".join("  ".join(aligned(cells)).rstrip() for cells in lines)
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return "\n".join(
        "| " + " | ".join(cells) + " |" for cells in (aligned(header), rule, *map(aligned, rows))
    )


@dataclass(frozen=True)
class Reached:
    """A figure that was asked for, and what the runs gave."""

    what: str
    asked: float
    runs: Sequence[float]
    more: bool = False
    """whether more is better"""

    @property
    def met(self) -> bool:
        """Whether every run did it."""
        return min(self.runs) >= self.asked if self.more else max(self.runs) <= self.asked

    def cells(self) -> list[str]:
        """Its row in a table of such figures."""
        spread = (
            f"{min(self.runs):.4g}"
            if len(self.runs) == 1
            else f"{min(self.runs):.4g} to {max(self.runs):.4g}"
        )
        asked = f"{'at least' if self.more else 'at most'} {self.asked:.4g}"
        return [self.what, asked, spread, "yes" if self.met else "no"]


def table_of_reached(rows: Sequence[Reached], *, markdown: bool) -> str:
    """What was asked, what the runs gave from least to greatest, and whether that meets it."""
    header = ["", "asked", "reached, least to greatest", "met"]
    return table(header, [row.cells() for row in rows], markdown=markdown)
