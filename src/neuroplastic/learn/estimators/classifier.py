"""A neuro-fuzzy classifier with scikit-learn's interface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d
from torch import Tensor
from torch.nn import functional as F

from ...errors import ConfigError, InputError
from .base import NeuroFuzzyEstimator
from .checking import check_auto
from .class_weights import check_class_weight, weighted_by_class
from .naming import readable
from .rows import Numbers, Rows
from .start import logistic_solution

# Each class beyond two adds so much doubt to a row's label, up to the most, shared by all classes: rules that need not
# be ever surer of what they know learn less by heart. Between two classes doubt did not help.
DOUBT, MOST_DOUBT = 0.005, 0.1
# Of a readable model each label has this doubt: few rules that are never quite sure keep their sets wide.
DOUBT_OF_FEW_RULES = 0.05


class NeuroFuzzyClassifier(ClassifierMixin, NeuroFuzzyEstimator):  # type: ignore[misc]
    """Classifies rows of a table by `rules` IF-THEN rules that it learns, with growing fuzzy sets.

    Columns are standardised inside; the first sets lie at quantiles, the first rules at clusters, and all rules
    start from one logistic regression, from which they part as far as the data support. `rules_` reads the rules
    in the table's own units, `explain` says which of them made a decision, `births_` which sets were born.

    A data frame may hold text, categories, truth values, dates and missing values: `columns_` says what each column
    was taken as. With `readable`, few short rules instead, each of which says how often it is right, with at most
    `max_rules` rules, `max_premises` premises of a rule and `max_size` premises in all; if `taught`, they learn from a
    forest and from a classifier that is not readable, too. Rows may repeat or carry weights: both mean the same,
    exactly.
    """

    _labels = True
    classes_: NDArray[Any]

    def __init__(
        self,
        rules: int | str = "auto",
        *,
        terms: int | str = "auto",
        max_terms: int | None = None,
        entmax_alpha: float = 1.0,
        layer_norm: bool = True,
        growth: float | None = 0.05,
        ridge: float = 1.0,
        shrinkage: float = 0.3,
        learning_rate: float = 0.02,
        max_updates: int | None = None,
        batch_size: int = 256,
        early_stopping: bool | str = "auto",
        validation_fraction: float = 0.1,
        patience: int = 10,
        readable: bool = False,
        max_rules: int | None = None,
        max_premises: int | None = None,
        max_size: int | None = None,
        taught: bool | str = "auto",
        class_weight: Mapping[Any, float] | str | None = None,
        warm_start: bool = False,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
        words: Mapping[str, tuple[str, ...]] | None = None,
    ) -> None:
        super().__init__(
            rules,
            terms=terms,
            max_terms=max_terms,
            entmax_alpha=entmax_alpha,
            layer_norm=layer_norm,
            growth=growth,
            ridge=ridge,
            shrinkage=shrinkage,
            learning_rate=learning_rate,
            max_updates=max_updates,
            batch_size=batch_size,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            patience=patience,
            readable=readable,
            max_rules=max_rules,
            max_premises=max_premises,
            max_size=max_size,
            warm_start=warm_start,
            verbose=verbose,
            random_state=random_state,
            words=words,
        )
        self.class_weight = class_weight
        self.taught = taught

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_class_weight(self.class_weight)
        check_auto("taught", self.taught)
        if self._wishes_teachers() is True and not self.readable:
            raise ConfigError("taught=True is for rules of readable=True; set it, or leave taught out")

    def _weights(self, targets: Numbers, weight: Numbers) -> Numbers:
        return weighted_by_class(self.class_weight, self.classes_, targets[:, 0], weight)

    def _check_targets(self, y: Any, *, first: bool) -> Numbers:
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        if first:
            announced = self.__dict__.pop("_announced", None)
            self.classes_ = np.unique(y) if announced is None else announced
        place = np.searchsorted(self.classes_, y).clip(max=len(self.classes_) - 1)
        known = self.classes_[place] == y
        if not np.all(known):
            raise InputError(
                f"y must hold only the classes seen first, {self.classes_.tolist()}, got {y[~known][0]!r}; "
                "name all of them at the first partial_fit by classes="
            )
        numbers: Numbers = place.astype(np.float64)[:, None]
        return numbers

    def partial_fit(
        self, X: Any, y: Any, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> NeuroFuzzyClassifier:
        """Learn on from these rows, one pass. The first call needs all `classes`, and sets scale and first sets."""
        if self.class_weight == "balanced":
            raise ConfigError(
                "class_weight='balanced' needs all rows at once; give partial_fit a dict from class to weight"
            )
        if not hasattr(self, "network_"):
            if classes is None:
                raise InputError("classes must be passed on the first call to partial_fit")
            self._announced = np.unique(np.asarray(classes))
        elif classes is not None and not np.array_equal(np.unique(np.asarray(classes)), self.classes_):
            raise InputError(
                f"classes must be those of the first call, {self.classes_.tolist()}, got {classes!r}"
            )
        return self._partial_fit(X, y, sample_weight)  # type: ignore[no-any-return]

    def _wishes_teachers(self) -> bool | str:
        return "auto" if self.taught == "auto" else bool(self.taught)

    def _outputs(self) -> int:
        return len(self.classes_)

    def _output_names(self) -> list[str]:
        return readable(self.classes_.tolist())

    def _linear(self, rows: Rows) -> tuple[Numbers, Numbers]:
        return logistic_solution(rows, len(self.classes_), max(self.ridge, 1e-6))

    def _loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        classes = outputs.shape[1]
        doubt = DOUBT_OF_FEW_RULES if self.readable else min(DOUBT * max(classes - 2, 0), MOST_DOUBT)
        if targets.is_floating_point():  # shares of the classes
            shares = (1 - doubt) * targets.to(outputs.dtype) + doubt / classes
            return F.cross_entropy(outputs, shares, reduction="none")
        believed = outputs.new_full((classes, classes), doubt / classes)
        believed.fill_diagonal_(1 - doubt + doubt / classes)
        # The same as with `label_smoothing`, in less time.
        return F.cross_entropy(outputs, believed.index_select(0, targets), reduction="none")

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest class of each row, (N,)."""
        outputs = self._outputs_of(X)
        chosen: NDArray[Any] = self.classes_[outputs.argmax(axis=1)]
        return chosen

    def decision_function(self, X: Any) -> Numbers:
        """The rules' scores of the classes, (N, K); of two classes how much the second is ahead, (N,)."""
        outputs = self._outputs_of(X)
        return outputs[:, 1] - outputs[:, 0] if outputs.shape[1] == 2 else outputs

    def predict_log_proba(self, X: Any) -> Numbers:
        """Logarithms of the classes' probabilities, (N, K)."""
        outputs = self._outputs_of(X)
        shifted = outputs - outputs.max(axis=1, keepdims=True)
        log: Numbers = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
        return log

    def predict_proba(self, X: Any) -> Numbers:
        """Probabilities of the classes, (N, K), in the order of `classes_`."""
        return np.exp(self.predict_log_proba(X))
