"""Neuro-fuzzy estimators for tables of data, with scikit-learn's interface."""

from ...errors import MissingPackageError

try:
    import sklearn  # noqa: F401
except ModuleNotFoundError as error:
    raise MissingPackageError(
        "the estimators need scikit-learn: pip install 'neuroplastic[table]'"
    ) from error

from .classifier import NeuroFuzzyClassifier
from .regressor import NeuroFuzzyRegressor

__all__ = ["NeuroFuzzyClassifier", "NeuroFuzzyRegressor"]
