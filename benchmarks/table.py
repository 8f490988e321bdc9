"""A table as aligned text or as Markdown."""

from __future__ import annotations

from collections.abc import Sequence


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
