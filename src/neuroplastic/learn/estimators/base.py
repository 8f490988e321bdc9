"""What the neuro-fuzzy classifier and regressor share: parameters, fitting, reading."""

from __future__ import annotations

import copy
import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight
from torch import Tensor

from ...errors import CapacityWarning, InputError
from ...network.growth import Birth
from ...network.nfn import NeuroFuzzyNetwork
from ...rules.evidence import Evidence
from ...rules.naming import Naming
from ...rules.reading import read_rules
from ...rules.rule_base import RuleBase
from ...rules.true_names import NamedSet, knots_of
from .adam import Adam
from .checking import check_parameters
from .choosing import choose, in_proportion, numbered, parts_and_times
from .deciding import decide
from .encoding import Column, Encoder, column_names
from .errors import need_fit
from .looks import OnLook, telling
from .making import first_network
from .naming import limits_of, named_sets, naming_of
from .readable import ordered_by_target
from .readable.draft import Draft
from .readable.learning import begin_readable, learn_readable, read_on
from .reading import read, read_with_targets
from .rows import Numbers, Rows, location_and_scale
from .training import History, Plan, Tensors, step, threads_worth_it, train

if TYPE_CHECKING:
    from typing_extensions import Self

    from ...rules.diagnosis import Diagnosis
    from ...rules.explanations.explanation import Explanation
    from ...rules.simplification.report import SimplificationReport

# Fewer rows than this say nothing about how long to train.
LEAST_ROWS_TO_CHOOSE = 60
# Updates: as many as rows, from the fewest to many; of more rows so many passes, up to the most.
FEWEST, MANY, PASSES, MOST = 300, 600, 100, 1500
# Of very many rows the most would not even be so many passes: then it is these, up to the most of all.
LEAST_PASSES, MOST_OF_ALL = 15, 24_000
# So many looks at a training that is that long, none sooner than twenty updates after another.
LOOKS = 75
# Of so many rows a part can be spared that says when to stop, at most so large; of fewer, cross-validation says it.
MANY_ROWS, MOST_HELD_OUT = 50_000, 20_000


class NeuroFuzzyEstimator(BaseEstimator, ABC):  # type: ignore[misc]
    """Common part; see the classifier and the regressor."""

    network_: NeuroFuzzyNetwork
    encoder_: Encoder
    n_features_in_: int
    n_iter_: int
    limits_: Numbers | None = None
    """(2, D): least and greatest value of each input of the rules in training; None in files of version 0.1"""
    quantiles_: Numbers | None = None
    """(21, D): values of each input of the rules at the shares 0, .05, ..., 1 of the rows that a fit began with"""
    kept_names_: dict[str, list[NamedSet]] | None = None
    """sets that had names before `simplify`, by input: they keep them"""
    clip_: Numbers | None = None
    """(2, D): of a readable model, values beyond these count as these; None of others"""
    cases_: Numbers | None = None
    """(U,): of a readable model, rows of training that each rule leads"""
    shares_: Numbers | None = None
    """(U, O): of a readable model, shares of the classes, or means of the targets, among those rows"""
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

    _labels: bool
    """Whether targets are class numbers."""

    @abstractmethod
    def _check_targets(self, y: Any, *, first: bool) -> Numbers:
        """Targets (N, O), or class numbers (N, 1); learns classes or the shape of y if this is the first call."""

    @abstractmethod
    def _outputs(self) -> int:
        """Outputs of the network."""

    @abstractmethod
    def _output_names(self) -> list[str]:
        """Names of the outputs in rules and explanations."""

    def _read_names(self, y: Any) -> None:
        """Take over names that the targets bring along."""

    def _output_scaler(self) -> tuple[Numbers, Numbers] | None:
        """Offset and scale of the targets; None where they are not scaled."""
        return None

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
        rng = check_random_state(self.random_state)
        draft = None if again else self._begin(rows, rng)
        if self.readable:
            with telling(on_look, verbose=bool(self.verbose)) as tell:
                self.history_ = learn_readable(self, rows, draft, rng, tell)
            return self
        train_rows, held_out = self._split(self._seen(rows), rng)
        plan, loss, labels = self._plan_now(len(train_rows)), self._loss, self._labels
        with telling(on_look, verbose=bool(self.verbose)) as tell:
            last = 1
            if self._chooses(rows) and not again:
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
        self._begin(rows, check_random_state(self.random_state))
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
        rng = check_random_state(self.random_state)
        if first:
            self._begin(rows, rng)
        if self.readable:
            read_on(self, rows, rng, first=first)
            return self
        net = self.network_
        adam = self._adam = self._adam or Adam(net)
        data = Tensors(net, self._seen(rows), labels=self._labels)
        plan, net = self._plan_now(len(rows)), net.train()
        batches = data.batches(plan.batch_size, rng)
        with threads_worth_it(net, plan.batch_size), warnings.catch_warnings():
            warnings.simplefilter("ignore", CapacityWarning)
            for _ in range(math.ceil(len(data) / plan.batch_size)):
                step(net, adam, self._loss, next(batches), data.total, plan, self.learning_rate)
        net.eval()
        self.n_iter_ = (0 if first else self.n_iter_) + 1
        return self

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
        x = self.encoder_(X)
        if len(x):
            ends = np.stack([x.min(axis=0), x.max(axis=0)])
            if not first and self.limits_ is not None:
                low, high = self.limits_
                ends = np.stack([np.minimum(low, ends[0]), np.maximum(high, ends[1])])
            self.limits_ = ends
        return Rows.of(x, targets, self._weights(targets, weight))

    def _encoder(self, columns: tuple[Column, ...]) -> Encoder:
        """Rules ask for numbers, and categories act in THEN parts; where there are no numbers, rules ask for those."""
        if self.readable:
            return Encoder(columns, "codes")
        kinds = {column.kind for column in columns} - {"constant"}
        return Encoder(columns, "both" if kinds == {"category"} else "one_hot")

    def _weights(self, targets: Numbers, weight: Numbers) -> Numbers:
        """The rows' weights as they count, (N,)."""
        return weight

    def _begin(self, rows: Rows, rng: np.random.RandomState) -> Draft | None:
        """Learn the scales, and make the network: sets at quantiles, rules at clusters, one linear solution.

        The rules of a readable model begin as the draft that is returned.
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

    def _clipped(self, x: Numbers) -> Numbers:
        """Raw inputs as they count: beyond the usual range of a readable model's columns, as at its end."""
        return x if self.clip_ is None else np.clip(x, *self.clip_)

    def _target_columns(self, targets: Numbers) -> Numbers:
        """Targets (N, O), classes one-hot."""
        return np.eye(self._outputs())[targets[:, 0].astype(np.int64)] if self._labels else targets

    def _split(self, rows: Rows, rng: np.random.RandomState) -> tuple[Rows, Rows | None]:
        """Rows to train on, and rows to hold out where that is asked for; classes are held out in proportion."""
        asked = len(rows) >= MANY_ROWS if self.early_stopping == "auto" else self.early_stopping
        if not asked or len(rows) < 2:
            return rows, None
        order = in_proportion(rows, labels=self._labels, rng=rng)
        every = max(2, round(1 / self.validation_fraction), len(rows) // MOST_HELD_OUT)
        held_out = np.arange(len(rows)) % every == every - 1
        return rows.part(order[~held_out]), rows.part(order[held_out])

    def _chooses(self, rows: Rows) -> bool:
        """Whether cross-validation is to say how long to train."""
        return self.early_stopping == "auto" and LEAST_ROWS_TO_CHOOSE <= len(rows) < MANY_ROWS

    def _plan(self, rows: int) -> Plan:
        batch = min(int(self.batch_size), rows)
        a_pass = math.ceil(rows / batch)
        most = max(MOST, min(LEAST_PASSES * a_pass, MOST_OF_ALL))
        updates = max(min(max(rows, FEWEST), MANY), min(PASSES * a_pass, most))
        if self.max_updates is not None:
            updates = int(self.max_updates)
        return Plan(
            updates=updates,
            batch_size=batch,
            learning_rate=self.learning_rate,
            ridge=self.ridge,
            shrinkage=self.shrinkage,
            check_every=max(Plan.check_every, updates // LOOKS),
            patience=int(self.patience),
        )

    def _plan_now(self, rows: int) -> Plan:
        """The plan for the columns there are."""
        return replace(self._plan(rows), silent=self._silent())

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

    # Using.

    @property
    def columns_(self) -> tuple[Column, ...]:
        """What each column of the table was found to be, with its categories and what a missing value is taken as."""
        if not hasattr(self, "encoder_"):
            raise AttributeError("columns_ is there after fit(X, y)")
        return self.encoder_.columns

    def _read(self, X: Any) -> Numbers:
        """X (N, D) as numbers in raw units, one column per input of the rules: the one place where X is read."""
        need_fit(self)
        return self._clipped(self.encoder_(read(self, X, first=False, words=self.encoder_.has_words)))

    def encode(self, X: Any) -> Numbers:
        """X (N, D) as the rules see it, in raw units: missing values filled, dates as days, categories as columns."""
        return self._read(X)

    def _outputs_of(self, X: Any) -> Numbers:
        """The network's outputs of X in raw units, (N, O), not yet scaled back."""
        x = self._read(X)
        with torch.no_grad():
            outputs: Numbers = self.network_(torch.from_numpy((x - self.offset_) / self.scale_)).numpy()
        finite = np.isfinite(outputs).all(axis=1)
        if not finite.all():  # of NaN the first class would be the greatest
            row = int(finite.argmin())
            raise InputError(
                f"row {row} has no finite output; its values, or the model's numbers, are too great"
            )
        return outputs

    @property
    def rules_(self) -> RuleBase:
        """The rules in raw units, with the columns' names and, for classes, theirs."""
        need_fit(self)
        rules = read_rules(self.network_, self._naming())
        evidence = self.evidence_
        return rules if evidence is None else replace(rules, evidence=evidence)

    @property
    def evidence_(self) -> Evidence | None:
        """The rows of training behind each rule of a readable model; None of others, or after `partial_fit`."""
        if self.cases_ is None or self.shares_ is None:
            return None
        return Evidence(self.cases_.copy(), self.shares_.copy(), float(self.cases_.sum()))

    @property
    def births_(self) -> list[Birth]:
        """The fuzzy sets born in training, in the units that the network sees (standardised)."""
        need_fit(self)
        return self.network_.births

    def explain(self, X: Any) -> Explanation:
        """Which rules made the outputs of X (N, D), and how much each counted; see `npl.explain`."""
        from ...rules.explanations.explaining import Explainer

        x = self._read(X)
        limits = limits_of(self.encoder_, self.limits_)
        return Explainer.named(self.network_, self._naming(), limits)(x)

    def diagnose(self, X: Any) -> Diagnosis:
        """Whether the rules decide on X (N, D), or their THEN parts alone; see `npl.diagnose`."""
        from ...rules.diagnosing import diagnosed

        seen = (self._read(X) - self.offset_) / self.scale_
        decision = "class" if self._labels else "number"
        return diagnosed(self.network_, seen, decision=decision, source="estimator")

    def simplify(self, X: Any, tolerance: float) -> tuple[Self, SimplificationReport]:
        """A copy with fewer rules, sets and premises, and a report of what that changes; see `npl.simplify`.

        `tolerance` is the largest change of an output on the rows X (N, D), in standard deviations of that output.
        """
        from ...rules.simplification.simplifying import simplify

        seen = (self._read(X) - self.offset_) / self.scale_
        made = simplify(self.network_, torch.from_numpy(seen), tolerance)
        assert isinstance(made.network, NeuroFuzzyNetwork)
        simpler = copy.deepcopy(self)
        simpler.network_ = made.network.eval()
        simpler.kept_names_ = named_sets(self.network_, self._naming())
        simpler.cases_ = simpler.shares_ = None  # its rules lead elsewhere
        return simpler, made.report

    def _naming(self) -> Naming:
        scaler = (self.offset_, self.scale_)
        return naming_of(
            self.network_,
            self.encoder_,
            self._output_names(),
            scaler,
            self._output_scaler(),
            classes=self._labels,
            words=self.words,
            quantiles=self.quantiles_,
            kept=self.kept_names_,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags
