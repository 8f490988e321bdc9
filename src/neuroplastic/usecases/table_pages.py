"""A fitted table as a folder: the model, and one page of scores, rules and pictures."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from ..errors import ConfigError
from ..learn.table_model import FILES
from ..report.document import Report
from ..report.folder import check_folder, write_report
from ..report.from_table import table_report
from .tables import FittedTable


@dataclass(frozen=True)
class SavedTable:
    """Where a fitted table went."""

    folder: Path
    page: Path
    summary: tuple[str, ...]
    """scores and size of the rule base, a line each"""


def check_place(out: str | Path, *, force: bool = False) -> None:
    """Raise an error unless a fitted table may be written there: better said before the fit than after it."""
    place = Path(out).absolute()
    above = next(folder for folder in (*place.parents, place) if folder.exists())  # / has no parents
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise ConfigError(f"{out} cannot be made: {above} is no folder that may be written to")
    check_folder(out, force=force, beside=FILES)


def table_page(fitted: FittedTable) -> Report:
    """Whether the model is worth anything, its rules on cards and behind sliders, whether they decide, pictures."""
    return table_report(
        f"Rules for {fitted.table.columns.target}, learned from {fitted.table.name}",
        fitted.estimator,
        fitted.table.x,
        fitted.table.y,
        fitted.scores,
        rules=fitted.rules,
        before=fitted.start,
        diagnosis=fitted.diagnosis,
        held_out=fitted.held_out,
        comparison=fitted.comparison,
        notes=fitted.notes,
    )


def save_table(fitted: FittedTable, out: str | Path, *, force: bool = False) -> SavedTable:
    """Write model and page; the folder appears whole or not at all. With `force` an earlier one is replaced."""
    page = table_page(fitted)
    written = write_report(page, out, force=force, beside=FILES, add=fitted.model.save)
    return SavedTable(Path(out), written, page.summary)
