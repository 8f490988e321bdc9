"""Pages of the documentation whose tables are made by a command."""

from __future__ import annotations

from pathlib import Path


def put_between(page: Path, marks: tuple[str, str], text: str) -> None:
    """Replace what stands between two marks of a page."""
    before, rest = page.read_text().split(marks[0])
    after = rest.split(marks[1])[1]
    page.write_text(f"{before}{marks[0]}\n\n{text}\n\n{marks[1]}{after}")
