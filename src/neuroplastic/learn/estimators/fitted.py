"""What can be asked of a fitted estimator: its outputs, its rules, why, whether they decide, something simpler."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from sklearn.base import BaseEstimator

from ...errors import InputError
from ...network.growth import Birth
from ...network.nfn import NeuroFuzzyNetwork
from ...rules.evidence import Evidence
from ...rules.naming import Naming
from ...rules.reading import read_rules
from ...rules.rule_base import RuleBase
from ...rules.true_names import NamedSet
from .encoding import Column, Encoder
from .errors import need_fit
from .naming import limits_of, named_sets, naming_of
from .reading import Table, read
from .rows import Numbers
from .unusual import Unusual, find_unusual

if TYPE_CHECKING:
    from typing_extensions import Self

    from ...rules.diagnosis import Diagnosis
    from ...rules.explanations.explanation import Explanation
    from ...rules.simplification.report import SimplificationReport


class FittedRules(BaseEstimator, ABC):  # type: ignore[misc]
    """A network with the table that it was fitted to: columns, scales, names. How it is fitted comes on top."""

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
    offset_: Numbers
    scale_: Numbers
    """(D,) each: the network sees (x - offset) / scale"""
    words: Mapping[str, tuple[str, ...]] | None
    """words for the sets of an attribute, lowest first, by its name"""

    # What a kind of estimator adds.

    _labels: bool
    """Whether targets are class numbers."""

    @abstractmethod
    def _output_names(self) -> list[str]:
        """Names of the outputs in rules and explanations."""

    def _output_scaler(self) -> tuple[Numbers, Numbers] | None:
        """Offset and scale of the targets; None where they are not scaled."""
        return None

    # What users ask.

    @property
    def columns_(self) -> tuple[Column, ...]:
        """What each column of the table was found to be, with its categories and what a missing value is taken as."""
        if not hasattr(self, "encoder_"):
            raise AttributeError("columns_ is there after fit(X, y)")
        return self.encoder_.columns

    def _clipped(self, x: Numbers) -> Numbers:
        """Raw inputs as they count: beyond the usual range of a readable model's columns, as at its end."""
        return x if self.clip_ is None else np.clip(x, *self.clip_)

    def _table(self, X: Any) -> Table:
        """X (N, D) with the columns of training: the one place where X is read."""
        need_fit(self)
        return read(self, X, first=False, words=self.encoder_.has_words)

    def _read(self, X: Any) -> Numbers:
        """X (N, D) as numbers in raw units, one column per input of the rules."""
        table = self._table(X)
        return self._clipped(self.encoder_(table))

    def encode(self, X: Any) -> Numbers:
        """X (N, D) as the rules see it, in raw units: missing values filled, dates as days, categories as columns."""
        return self._read(X)

    def unusual(self, X: Any) -> Unusual:
        """What X (N, D) has that training had not: values outside its range, missing ones, categories never seen.

        Only columns count that the answers depend on. `predict` warns of unseen categories alone: of a few hundred
        rows some always lie just outside the range of the others.
        """
        return find_unusual(self, self._table(X))

    def _outputs_of(self, X: Any) -> Numbers:
        """The network's outputs of X in raw units, (N, O), not yet scaled back."""
        return self.outputs_of_encoded(self._read(X))

    def outputs_of_encoded(self, x: Numbers) -> Numbers:
        """The network's outputs (N, O) of encoded rows (N, D): scores of classes, or scaled targets."""
        seen = (self._clipped(x) - self.offset_) / self.scale_
        with torch.no_grad():
            outputs: Numbers = self.network_(torch.from_numpy(seen)).numpy()
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

        table = self._table(X)
        encoded = self.encoder_(table)
        x, given = self._clipped(encoded), np.where(self.encoder_.missing(table), np.nan, encoded)
        # What lies beyond the clip counts as its end, so a change that leads there would change nothing.
        ends = None if self.limits_ is None else self._clipped(self.limits_)
        limits = limits_of(self.encoder_, ends)
        made = Explainer.named(self.network_, self._naming(), limits)(x)
        return made if np.array_equal(given, x) else replace(made, given=given)

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
