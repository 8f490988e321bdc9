"""What an estimator raises when it is asked for something before it has learned anything."""

from __future__ import annotations

from sklearn.exceptions import NotFittedError as ScikitLearnsNotFittedError

from ...errors import NeuroplasticError


class NotFittedError(NeuroplasticError, ScikitLearnsNotFittedError):  # type: ignore[misc]
    """An estimator was used before it was fitted."""


def need_fit(estimator: object) -> None:
    """Raise a NotFittedError unless the estimator has a network."""
    if not hasattr(estimator, "network_"):
        raise NotFittedError(f"this {type(estimator).__name__} is not fitted yet; call fit(X, y) first")
