"""Neuro-fuzzy estimators for tables of data, with scikit-learn's interface."""

try:
    import sklearn  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "the estimators need scikit-learn; pip install 'neuroplastic[table]'", name=error.name
    ) from error

from .classifier import NeuroFuzzyClassifier
from .regressor import NeuroFuzzyRegressor

__all__ = ["NeuroFuzzyClassifier", "NeuroFuzzyRegressor"]
