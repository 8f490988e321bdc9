"""What the neuro-fuzzy classifier and regressor share: parameters, fitting, reading."""

from __future__ import annotations

import copy
import math
import warnings
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, validate_data
from torch import Tensor

from ...errors import CapacityWarning, ConfigError, InputError, at_least
from ...fuzzy.firing import Firing
from ...fuzzy.selection import Selection
from ...memory import need_memory
from ...network.consequents import Affine
from ...network.neurogenesis import Birth, Neurogenesis
from ...network.nfn import NeuroFuzzyNetwork
from ...network.size import parameters_of
from ...rules.naming import Naming
from ...rules.reading import read_rules
from ...rules.rule_base import RuleBase
from .adam import Adam
from .choosing import choose, in_proportion, numbered, parts_and_times
from .errors import need_fit
from .looks import OnLook, telling
from .naming import readable
from .rows import Numbers, Rows, location_and_scale
from .start import first_terms, place_first_rules, place_first_sets, sharpen, start_linear
from .training import History, Plan, Tensors, step, threads_worth_it, train

if TYPE_CHECKING:
    from typing_extensions import Self

    from ...rules.diagnosis import Diagnosis
    from ...rules.explanations.explanation import Explanation
    from ...rules.simplification.report import SimplificationReport

# Fewer rows than this say nothing about how long to train.
LEAST_ROWS_TO_CHOOSE = 60
# Room per column for sets to be born.
SPARE_TERMS = 3
# A set is born for so many uncovered values (as a share of a batch, counted over batches), and so wide at least.
ASKING, LEAST_BORN_WIDTH = 0.5, 0.5
# What a fit takes at most, measured: of a number that is learned, gradient, moments, averages and copies in double
# precision; of the firing of a rule in a row of a batch, the steps that make and differentiate it.
BYTES_OF_NUMBER, BYTES_OF_LEVEL = 40, 64
# More rules than this are told apart by as many sets as there are.
MANY_RULES = 2**62
# Updates: as many as rows, from the fewest to many; of more rows so many passes, up to the most.
FEWEST, MANY, PASSES, MOST = 300, 600, 100, 1500


class NeuroFuzzyEstimator(BaseEstimator, ABC):  # type: ignore[misc]
    """Common part; see the classifier and the regressor."""

    network_: NeuroFuzzyNetwork
    n_features_in_: int
    n_iter_: int
    _adam: Adam | None = None

    def __init__(
        self,
        rules: int = 30,
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
        warm_start: bool = False,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
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
        self.warm_start = warm_start
        self.verbose = verbose
        self.random_state = random_state

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
        if not again:
            self._begin(rows, rng)
        train_rows, held_out = self._split(self._seen(rows), rng)
        plan, loss, labels = self._plan(len(train_rows)), self._loss, self._labels
        with telling(on_look, verbose=bool(self.verbose)) as tell:
            last = 1
            if self._chooses(rows) and not again:
                last += parts_and_times(len(train_rows))[1]
                start = self.network_
                plan = choose(
                    start, train_rows, self._linear, loss, plan, labels=labels, rng=rng, on_look=tell
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
        rows = self._rows(X, y, sample_weight, first=first)
        if not first and not len(rows):
            return self
        rng = check_random_state(self.random_state)
        if first:
            self._begin(rows, rng)
        net = self.network_
        adam = self._adam = self._adam or Adam(net)
        data = Tensors(net, self._seen(rows), labels=self._labels)
        plan, net = self._plan(len(rows)), net.train()
        batches = data.batches(plan.batch_size, rng)
        with threads_worth_it(net, plan.batch_size), warnings.catch_warnings():
            warnings.simplefilter("ignore", CapacityWarning)
            for _ in range(math.ceil(len(data) / plan.batch_size)):
                step(net, adam, self._loss, next(batches), data.total, plan, self.learning_rate)
        net.eval()
        self.n_iter_ = (0 if first else self.n_iter_) + 1
        return self

    def _check_parameters(self) -> None:
        at_least("rules", _whole(self.rules), 1)
        if self.terms != "auto":
            at_least("terms", _whole(self.terms), 1)
        if self.max_terms is not None:
            at_least("max_terms", _whole(self.max_terms), 1 if self.terms == "auto" else int(self.terms))
        at_least("batch_size", _whole(self.batch_size), 1)
        at_least("patience", _whole(self.patience), 1)
        if self.max_updates is not None:
            at_least("max_updates", _whole(self.max_updates), 1)
        if not 1 <= self.entmax_alpha <= 2:
            raise ConfigError(f"entmax_alpha must lie between 1 and 2, got {self.entmax_alpha!r}")
        for name, value in (("ridge", self.ridge), ("shrinkage", self.shrinkage)):
            if not 0 <= value < math.inf:
                raise ConfigError(f"{name} must be at least 0, got {value!r}")
        if not 0 < self.learning_rate < math.inf:
            raise ConfigError(f"learning_rate must be above 0, got {self.learning_rate!r}")
        if not 0 < self.validation_fraction < 1:
            raise ConfigError(
                f"validation_fraction must lie between 0 and 1, got {self.validation_fraction!r}"
            )
        if self.early_stopping not in (True, False, "auto"):
            raise ConfigError(f"early_stopping must be True, False or 'auto', got {self.early_stopping!r}")

    def _rows(self, X: Any, y: Any, sample_weight: ArrayLike | None, *, first: bool) -> Rows:
        """The data checked and merged, in raw units."""
        if first:
            self._read_names(y)
        X, y = validate_data(
            self,
            X,
            y,
            reset=first,
            dtype=np.float64,
            multi_output=not self._labels,
            y_numeric=not self._labels,
        )
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        present = weight > 0
        return Rows.of(X[present], self._check_targets(y[present], first=first), weight[present])

    def _begin(self, rows: Rows, rng: np.random.RandomState) -> None:
        """Learn the scales, and make the network: sets at quantiles, rules at clusters, one linear solution."""
        self.offset_, self.scale_ = location_and_scale(rows.x, rows.weight)
        self._learn_scale(rows.y, rows.weight)
        seen, seed = self._seen(rows), int(rng.randint(2**31 - 1))
        rules, columns = int(self.rules), self.n_features_in_
        terms = int(self.terms) if self.terms != "auto" else first_terms(min(rules, MANY_RULES), columns)
        room = int(self.max_terms) if self.max_terms is not None else terms + SPARE_TERMS
        self._check_memory(rules, columns, room, len(rows))
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            net = NeuroFuzzyNetwork(
                self.n_features_in_,
                self._outputs(),
                rules,
                terms=1,
                max_terms=room,
                selection=Selection(estimator="ste"),
                firing=Firing(alpha=self.entmax_alpha, layer_norm=bool(self.layer_norm)),
                consequent=Affine(init="zeros"),
                neurogenesis=self._neurogenesis(len(rows)),
            )
            place_first_sets(net, seen, min(terms, room))
            place_first_rules(net, seen, seed)
            sharpen(net.eval(), seen)
        start_linear(net, *self._linear(seen))
        self.network_, self._adam = net.double().eval(), None

    def _check_memory(self, rules: int, columns: int, max_terms: int, rows: int) -> None:
        """Raise a ConfigError where a fit would take more memory than there is."""
        learned = BYTES_OF_NUMBER * parameters_of(columns, self._outputs(), rules, max_terms, Affine())
        fired = BYTES_OF_LEVEL * rules * min(int(self.batch_size), rows)
        what = f"rules={rules} of {columns} columns with {self._outputs()} outputs and max_terms={max_terms}"
        need_memory(
            what,
            learned + fired,
            torch.device("cpu"),
            "use fewer rules, a smaller max_terms or fewer columns",
        )

    def _neurogenesis(self, rows: int) -> Neurogenesis | None:
        """Births of wide sets, for many rows: a narrow one at a few outliers silences its rules everywhere else."""
        if not self.growth:
            return None
        enough = max(2, math.ceil(ASKING * min(int(self.batch_size), rows)))
        return Neurogenesis(epsilon=self.growth, min_count=enough, min_width=LEAST_BORN_WIDTH)

    def _seen(self, rows: Rows) -> Rows:
        """Rows as the network sees them."""
        scaler = self._output_scaler()
        y = rows.y if scaler is None else (rows.y - scaler[0]) / scaler[1]
        return Rows((rows.x - self.offset_) / self.scale_, y, rows.weight)

    def _split(self, rows: Rows, rng: np.random.RandomState) -> tuple[Rows, Rows | None]:
        """Rows to train on, and rows to hold out where that is asked for; classes are held out in proportion."""
        if self.early_stopping == "auto" or not self.early_stopping or len(rows) < 2:
            return rows, None
        order = in_proportion(rows, labels=self._labels, rng=rng)
        every = max(2, round(1 / self.validation_fraction))
        held_out = np.arange(len(rows)) % every == every - 1
        return rows.part(order[~held_out]), rows.part(order[held_out])

    def _chooses(self, rows: Rows) -> bool:
        """Whether cross-validation is to say how long to train."""
        return self.early_stopping == "auto" and len(rows) >= LEAST_ROWS_TO_CHOOSE

    def _plan(self, rows: int) -> Plan:
        batch = min(int(self.batch_size), rows)
        updates = max(min(max(rows, FEWEST), MANY), min(PASSES * math.ceil(rows / batch), MOST))
        return Plan(
            updates=int(self.max_updates) if self.max_updates is not None else updates,
            batch_size=batch,
            learning_rate=self.learning_rate,
            ridge=self.ridge,
            shrinkage=self.shrinkage,
            patience=int(self.patience),
        )

    def _settle(self, updates: int) -> None:
        """Double precision from here on, so that a row's output does not depend on the rows beside it."""
        self.network_, self._adam = self.network_.double().eval(), None
        self.n_iter_ = updates

    # Using.

    def _outputs_of(self, X: Any) -> Numbers:
        """The network's outputs of X in raw units, (N, O), not yet scaled back."""
        need_fit(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        with torch.no_grad():
            outputs: Numbers = self.network_(torch.from_numpy((X - self.offset_) / self.scale_)).numpy()
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
        return read_rules(self.network_, self._naming())

    @property
    def births_(self) -> list[Birth]:
        """The fuzzy sets born in training, in the units that the network sees (standardised)."""
        need_fit(self)
        return self.network_.births

    def explain(self, X: Any) -> Explanation:
        """Which rules made the outputs of X (N, D), and how much each counted; see `npl.explain`."""
        from ...rules.explanations.explaining import Explainer

        need_fit(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        return Explainer.named(self.network_, self._naming())(X)

    def diagnose(self, X: Any) -> Diagnosis:
        """Whether the rules decide on X (N, D), or their THEN parts alone; see `npl.diagnose`."""
        from ...rules.diagnosing import diagnosed

        need_fit(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        seen, decision = (X - self.offset_) / self.scale_, "class" if self._labels else "number"
        return diagnosed(self.network_, seen, decision=decision, source="estimator")

    def simplify(self, X: Any, tolerance: float) -> tuple[Self, SimplificationReport]:
        """A copy with fewer rules, sets and premises, and a report of what that changes; see `npl.simplify`.

        `tolerance` is the largest change of an output on the rows X (N, D), in standard deviations of that output.
        """
        from ...rules.simplification.simplifying import simplify

        need_fit(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        made = simplify(self.network_, torch.from_numpy((X - self.offset_) / self.scale_), tolerance)
        assert isinstance(made.network, NeuroFuzzyNetwork)
        simpler = copy.deepcopy(self)
        simpler.network_ = made.network.eval()
        return simpler, made.report

    def _naming(self) -> Naming:
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            names = [f"x{number}" for number in range(1, self.n_features_in_ + 1)]
        return Naming(
            readable(names), self._output_names(), (self.offset_, self.scale_), self._output_scaler()
        )


def _whole(value: object) -> object:
    """NumPy's whole numbers, which a grid search hands over, as Python's."""
    return int(value) if isinstance(value, np.integer) else value
