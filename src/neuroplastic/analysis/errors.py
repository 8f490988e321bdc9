"""What the analysis raises when it is asked for a number that does not exist."""

from __future__ import annotations

from ..errors import NeuroplasticError


class AnalysisError(NeuroplasticError, ValueError):
    """Root of what the analysis raises on purpose."""


class TooFewError(AnalysisError):
    """Fewer episodes, trials, raters or tasks than the statistic is defined for."""


class NoVariationError(AnalysisError):
    """All values are equal, so that the statistic would be 0 / 0."""


class TableError(AnalysisError):
    """A table has values that are missing, infinite, or of the wrong shape."""


class StudyError(AnalysisError):
    """A study cannot be read: no such file or name, a storage out of reach, columns missing."""
