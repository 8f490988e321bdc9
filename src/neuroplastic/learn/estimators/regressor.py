"""A neuro-fuzzy regressor with scikit-learn's interface."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from torch import Tensor

from ...errors import InputError
from .base import NeuroFuzzyEstimator
from .naming import readable
from .rows import Numbers, Rows, location_and_scale
from .start import ridge_solution


class NeuroFuzzyRegressor(RegressorMixin, NeuroFuzzyEstimator):  # type: ignore[misc]
    """Predicts one number or several of a row by `rules` IF-THEN rules that it learns, with growing fuzzy sets.

    Columns and targets are standardised inside; the first sets lie at quantiles, the first rules at clusters, and
    all rules start from one ridge regression, from which they part as far as the data support. `rules_` reads the
    rules in the table's own units, `explain` says which of them made a number, `births_` which sets were born.

    A data frame may hold text, categories, truth values, dates and missing values: `columns_` says what each column
    was taken as. With `readable`, few short rules instead, each with one number, at most `max_rules` rules with
    `max_premises` premises each and `max_size` premises in all. Rows may repeat or carry weights: both mean the same,
    exactly.
    """

    _labels = False
    n_outputs_: int
    target_names_: list[str] | None = None

    def _check_targets(self, y: Any, *, first: bool) -> Numbers:
        y = np.asarray(y, dtype=np.float64)
        if first:
            self.n_outputs_, self._one_dimensional = (1, True) if y.ndim == 1 else (y.shape[1], False)
        columns: Numbers = y.reshape(len(y), -1)
        if columns.shape[1] != self.n_outputs_:
            raise InputError(f"y must have {self.n_outputs_} columns as at first, got {columns.shape[1]}")
        return columns

    def partial_fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> NeuroFuzzyRegressor:
        """Learn on from these rows, one pass. The first call sets scales and first sets: let it be a fair sample."""
        return self._partial_fit(X, y, sample_weight)  # type: ignore[no-any-return]

    def _outputs(self) -> int:
        return int(self.n_outputs_)

    def _output_names(self) -> list[str]:
        if self.target_names_ is not None:
            return readable(self.target_names_)
        return ["y"] if self.n_outputs_ == 1 else [f"y{number}" for number in range(1, self.n_outputs_ + 1)]

    def _read_names(self, y: Any) -> None:
        """A pandas target brings its name, or its columns' names."""
        names = [y.name] if getattr(y, "name", None) is not None else getattr(y, "columns", None)
        self.target_names_ = None if names is None else [str(name) for name in names]

    def _learn_scale(self, y: Numbers, weight: Numbers) -> None:
        self.target_offset_, self.target_scale_ = location_and_scale(y, weight)

    def _output_scaler(self) -> tuple[Numbers, Numbers] | None:
        return self.target_offset_, self.target_scale_

    def _linear(self, rows: Rows) -> tuple[Numbers, Numbers]:
        return ridge_solution(rows, max(self.ridge, 1e-6))

    def _loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        return (outputs - targets).square().mean(dim=1)

    def predict(self, X: Any) -> Numbers:
        """The predicted number of each row, (N,), or (N, O) where y had columns."""
        outputs = self._outputs_of(X)
        predicted: Numbers = self.target_offset_ + self.target_scale_ * outputs
        return predicted[:, 0] if self._one_dimensional else predicted

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
