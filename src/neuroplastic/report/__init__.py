"""The paper's tables and figures as one self-contained page, from your studies or from its printed tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import MissingPackageError
from ..late_names import late_names

try:
    import jinja2 as _jinja2  # noqa: F401
    import matplotlib as _matplotlib  # noqa: F401
except ImportError as error:
    raise MissingPackageError(
        f"neuroplastic.report needs Jinja2 and matplotlib ({error}); "
        "install them with: pip install 'neuroplastic[table]'"
    ) from error

from .document import Cell, Figure, Report, Section, Table
from .folder import ReportExistsError, write_report

if TYPE_CHECKING:
    from .from_paper import paper_report
    from .from_studies import study_report

__all__ = [
    "Cell",
    "Figure",
    "Report",
    "ReportExistsError",
    "Section",
    "Table",
    "paper_report",
    "study_report",
    "write_report",
]

# Reports of studies need the analysis; the page of a table does not.
_HOMES = {".from_paper": "paper_report", ".from_studies": "study_report"}
__getattr__, __dir__ = late_names(__name__, _HOMES)
