"""What the neuro-fuzzy classifier and regressor share: parameters and fitting."""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight
from torch import Tensor

from ...errors import CapacityWarning
from ...rules.true_names import knots_of
from .adam import Adam
from .checking import check_parameters
from .choosing import choose, numbered, parts_and_times
from .deciding import decide
from .encoding import Column, Encoder, column_names
from .fitted import FittedRules
from .looks import OnLook, telling
from .making import first_network
from .naming import check_words
from .planning import hold_out, is_to_choose, plan_of
from .readable import ordered_by_target
from .readable.learning import Begun, begin_readable, learn_readable, read_on
from .reading import read_with_targets
from .rows import Numbers, Rows, location_and_scale
from .training import History, Tensors, step, threads_worth_it, train

# The seed of readable models: the same rows give the same rules, whatever `random_state` is. Ties between columns that
# say nearly the same would else be broken by chance, and the rules a person reads would depend on it.
ALWAYS = 0


class NeuroFuzzyEstimator(FittedRules):
    """Common part; see the classifier and the regressor."""

    _adam: Adam | None = None

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
        warm_start: bool = False,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
        words: Mapping[str, tuple[str, ...]] | None = None,
    ) -> None:
        self.rules = rules
        self.terms = terms
        self.max_terms = max_terms
        self.entmax_alpha = entmax_alpha
        self.layer_norm = layer_norm
        self.growth = growth
        self.ridge = ridge
        self.shrinkage = shrinkage
        self.learning_rate = learning_rate
        self.max_updates = max_updates
        self.batch_size = batch_size
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.readable = readable
        self.max_rules = max_rules
        self.max_premises = max_premises
        self.max_size = max_size
        self.warm_start = warm_start
        self.verbose = verbose
        self.random_state = random_state
        self.words = words

    # What a kind of estimator adds.

    @abstractmethod
    def _check_targets(self, y: Any, *, first: bool) -> Numbers:
        """Targets (N, O), or class numbers (N, 1); learns classes or the shape of y if this is the first call."""

    @abstractmethod
    def _outputs(self) -> int:
        """Outputs of the network."""

    def _wishes_teachers(self) -> bool | str:
        """Whether the rules of a readable model are to learn from others, too; "auto": where that was seen to help."""
        return False

    def _read_names(self, y: Any) -> None:
        """Take over names that the targets bring along."""

    def _learn_scale(self, y: Numbers, weight: Numbers) -> None:
        """Learn offset and scale of the targets, where they are scaled."""

    @abstractmethod
    def _linear(self, rows: Rows) -> tuple[Numbers, Numbers]:
        """The linear solution that all rules start from: weights (O, D) and biases (O,)."""

    @abstractmethod
    def _loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Loss of each row, (B,)."""

    # Fitting.

    def fit(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, *, on_look: OnLook | None = None
    ) -> Any:
        """Learn from X (N, D) and y; with `warm_start`, go on from the network there is.

        `on_look` is told every twenty updates how far the fit is, see `Look`; what it raises ends the fit.
        """
        self._check_parameters()
        again = bool(self.warm_start) and hasattr(self, "network_")
        rows = self._rows(X, y, sample_weight, first=not again)
        rng = self._chance()
        begun = None if again else self._begin(rows, rng)
        if self.readable:
            with telling(on_look, verbose=bool(self.verbose)) as tell:
                self.history_ = learn_readable(self, rows, begun, rng, tell)
            return self
        train_rows, held_out = hold_out(self, self._seen(rows), rng)
        plan, loss, labels = plan_of(self, len(train_rows), self._silent()), self._loss, self._labels
        with telling(on_look, verbose=bool(self.verbose)) as tell:
            last = 1
            if is_to_choose(self, rows) and not again:
                last += parts_and_times(len(train_rows))[1]
                start = self.network_
                plan = choose(
                    start, train_rows, self._linear_solution, loss, plan, labels=labels, rng=rng, on_look=tell
                )
            net = self.network_.float()
            history = train(
                net,
                Tensors(net, train_rows, labels=labels),
                None if held_out is None else Tensors(net, held_out, labels=labels),
                loss,
                plan,
                rng=rng,
                on_look=numbered(tell, last, last),
            )
        self._settle(history.updates)
        self.history_ = history
        return self

    def start(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Any:
        """Stand where `fit` starts from, without training: sets at quantiles, rules at clusters, a linear solution.

        With a whole number as `random_state`, these are the rules that `fit` of the same data trains.
        """
        self._check_parameters()
        rows = self._rows(X, y, sample_weight, first=True)
        self._begin(rows, self._chance())
        self._settle(0)
        self.history_ = History()
        return self

    def _partial_fit(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> Any:
        """One pass over these rows. The first call also sets scale, sets and rules: let it be a fair sample."""
        self._check_parameters()
        first = not hasattr(self, "network_")
        rows = self._rows(X, y, sample_weight, first=first, few=True)
        if not first and not len(rows):
            return self
        rng = self._chance()
        if first:
            self._begin(rows, rng)
        if self.readable:
            read_on(self, rows, rng, first=first)
            return self
        net = self.network_
        adam = self._adam = self._adam or Adam(net)
        data = Tensors(net, self._seen(rows), labels=self._labels)
        plan, net = plan_of(self, len(rows), self._silent()), net.train()
        batches = data.batches(plan.batch_size, rng)
        with threads_worth_it(net, plan.batch_size), warnings.catch_warnings():
            warnings.simplefilter("ignore", CapacityWarning)
            for _ in range(math.ceil(len(data) / plan.batch_size)):
                step(net, adam, self._loss, next(batches), data.total, plan, self.learning_rate)
        net.eval()
        self.n_iter_ = (0 if first else self.n_iter_) + 1
        return self

    def _chance(self) -> np.random.RandomState:
        """Where chance comes from: `random_state`, or always the same for rules that people are to rely on."""
        given: np.random.RandomState = check_random_state(self.random_state)
        return np.random.RandomState(ALWAYS) if self.readable else given

    def _check_parameters(self) -> None:
        check_parameters(self)

    def _rows(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, *, first: bool, few: bool = False
    ) -> Rows:
        """The data checked, encoded and merged, in raw units; of the first rows it is learned what columns are.

        Where there will be more, a `few` first rows do not say that a column is constant.
        """
        if first:
            self._read_names(y)
        words = not first and self.encoder_.has_words
        X, y = read_with_targets(self, X, y, first=first, labels=self._labels, words=words)
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        present = weight > 0
        X, weight = X[present], weight[present]
        targets = self._check_targets(y[present], first=first)
        if first:
            names = column_names(self.n_features_in_, getattr(self, "feature_names_in_", None))
            columns = decide(X, names, weight, keep_constant=few)
            if self.readable:
                columns = ordered_by_target(columns, X, self._target_columns(targets), weight)
            self.encoder_ = self._encoder(columns)
            check_words(self.words, self.encoder_)
        x = self.encoder_(X)
        if len(x):
            ends = np.stack([x.min(axis=0), x.max(axis=0)])
            if not first and self.limits_ is not None:
                low, high = self.limits_
                ends = np.stack([np.minimum(low, ends[0]), np.maximum(high, ends[1])])
            self.limits_ = ends
        rows = Rows.of(x, targets, self._weights(targets, weight), weight)
        rows.check_weight()
        return rows

    def _encoder(self, columns: tuple[Column, ...]) -> Encoder:
        """Rules ask for numbers, and categories act in THEN parts; where there are no numbers, rules ask for those."""
        if self.readable:
            return Encoder(columns, "codes")
        kinds = {column.kind for column in columns} - {"constant"}
        return Encoder(columns, "both" if kinds == {"category"} else "one_hot")

    def _weights(self, targets: Numbers, weight: Numbers) -> Numbers:
        """The rows' weights as they count, (N,)."""
        return weight

    def _begin(self, rows: Rows, rng: np.random.RandomState) -> Begun | None:
        """Learn the scales, and make the network: sets at quantiles, rules at clusters, one linear solution.

        What is returned is how the rules of a readable model begin.
        """
        self.clip_ = self.cases_ = self.shares_ = None
        self.quantiles_, self.kept_names_ = knots_of(rows.x, rows.weight), None
        if self.readable:
            return begin_readable(self, rows, rng)
        self.offset_, self.scale_ = location_and_scale(rows.x, rows.weight)
        self._learn_scale(rows.y, rows.weight)
        net = first_network(self, self._seen(rows), self.encoder_, int(rng.randint(2**31 - 1)))
        self.network_, self._adam = net.double().eval(), None
        return None

    def _seen(self, rows: Rows) -> Rows:
        """Rows as the network sees them."""
        scaler = self._output_scaler()
        y = rows.y if scaler is None else (rows.y - scaler[0]) / scaler[1]
        return Rows((self._clipped(rows.x) - self.offset_) / self.scale_, y, rows.weight)

    def _target_columns(self, targets: Numbers) -> Numbers:
        """Targets (N, O), classes one-hot."""
        return np.eye(self._outputs())[targets[:, 0].astype(np.int64)] if self._labels else targets

    def _silent(self) -> tuple[int, ...]:
        """Inputs that THEN parts know nothing of: codes beside the one-hot columns of the same categories."""
        return tuple(self.encoder_.crisp) if self.encoder_.form == "both" else ()

    def _linear_solution(self, rows: Rows) -> tuple[Numbers, Numbers]:
        """The linear solution of the inputs that THEN parts know, 0 for the others."""
        silent = self._silent()
        if not silent:
            return self._linear(rows)
        weight, bias = self._linear(Rows(np.delete(rows.x, silent, axis=1), rows.y, rows.weight))
        whole = np.zeros((len(bias), rows.x.shape[1]))
        whole[:, np.setdiff1d(np.arange(rows.x.shape[1]), silent)] = weight
        return whole, bias

    def _settle(self, updates: int) -> None:
        """Double precision from here on, so that a row's output does not depend on the rows beside it."""
        self.network_, self._adam = self.network_.double().eval(), None
        self.n_iter_ = updates

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags
