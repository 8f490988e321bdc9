"""The paper's tables and figures, from studies or from its own printed tables, as one page."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from pathlib import Path

from ..analysis.studies import load_studies
from ..report.document import Report
from ..report.firing_levels import firing_section
from ..report.from_paper import paper_report
from ..report.from_studies import study_report
from .progress import Headway, Listener, nobody
from .requests import FIRING_SCENARIO


def study_page(
    sources: Sequence[str | Path], *, scenario: str = FIRING_SCENARIO, on_progress: Listener = nobody
) -> Report:
    """The report of all studies at the sources: storages, a study's .csv or .json, or folders of those.

    Firing levels are shown for pictures of `scenario`. Analysing a study takes some seconds; each is told before.
    """
    tables = [table for source in sources for table in load_studies(source)]
    finished = sum(bool(table.finished) for table in tables)
    begun = count()

    def tell(about: str) -> None:
        on_progress(Headway("analysis", next(begun), finished, "study", about))

    return study_report(tables, firing_section(scenario), progress=tell)


def paper_page(*, scenario: str = FIRING_SCENARIO) -> Report:
    """The report of the paper's printed tables, recomputed and marked."""
    return paper_report(firing_section(scenario))
