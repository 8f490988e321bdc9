"""The IF side of a rule base as arrays, in double precision: log-memberships, log-firings, and what entmax gets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..rule_base import IGNORED, Indices, Numbers, RuleBase
from ..scores import ScoreLine

# As in the network, where inputs beyond a limit are treated as lying on it: their squares stay finite.
INPUT_LIMIT = 1e60


@dataclass(frozen=True, eq=False)
class Scoring:
    """How a rule base scores its rules: `score = slope (w - mean_u w) / S + level` with log-firing w and the layer
    norm's deviation S; without layer norm `score = slope w + level`. The rule of the highest score fires strongest.
    """

    center: Numbers
    """(U, D): of each premise's set; 0 where the rule ignores the attribute"""
    precision: Numbers
    """(U, D): `share / (2 width**2)`; 0 where the rule ignores the attribute"""
    slope: Numbers
    """(U,): gain of the layer norm times the certainty's tanh"""
    level: Numbers
    """(U,): shift of the layer norm times the certainty's tanh, plus the certainty's log"""
    layer_norm: bool
    unit: Numbers
    """(D,): geometric mean of the widths of the attribute's sets; a step that means the same in every unit"""
    share: float = 1.0
    """what a log-membership counts in its rule's log-firing: 1, 1 over D for a mean, or with a gain"""
    worst: bool = False
    """whether a rule's log-firing is the least part of a premise, and not the sum of all"""

    @classmethod
    def of(cls, rules: RuleBase) -> Scoring:
        """Read off a rule base."""
        centers, widths, unit = _tables(rules)
        attributes = np.arange(len(rules.inputs))
        ignored = rules.premises == IGNORED
        chosen = np.where(ignored, 0, rules.premises)
        precision = np.where(ignored, 0.0, 0.5 / widths[attributes, chosen] ** 2)
        share = rules.firing.share(len(attributes))
        precision *= share
        line = ScoreLine.of(
            rules.firing, len(rules), gain=rules.gain, shift=rules.shift, certainty=rules.certainty
        )
        center = np.where(ignored, 0.0, centers[attributes, chosen])
        norm, worst = rules.firing.layer_norm, rules.firing.reduce == "worst"
        return cls(center, precision, line.slope, line.level, norm, unit, share, worst)

    def premise_parts(self, x: ArrayLike, rules: ArrayLike) -> Numbers:
        """What each premise adds to its rule's log-firing, at most 0: x (N, D) and rules (N,) give (N, D).

        Where rules are compared by their worst premise, that one adds all and the others nothing.
        """
        parts = self._products(x, rules)
        if self.worst:
            parts = np.where(np.arange(parts.shape[1]) == parts.argmin(axis=1)[:, None], parts, 0.0)
        return parts

    def memberships(self, x: ArrayLike, rules: ArrayLike) -> Numbers:
        """How well x (N, D) fits each premise of rules (N,), 0 to 1, (N, D); 1 where ignored."""
        fits: Numbers = np.exp(self._products(x, rules) / self.share)
        return fits

    def _products(self, x: ArrayLike, rules: ArrayLike) -> Numbers:
        """Each premise's log-membership times the share, (N, D)."""
        index = np.asarray(rules)
        products: Numbers = -self.precision[index] * (bounded(x) - self.center[index]) ** 2
        return products

    def log_firing(self, x: ArrayLike) -> Numbers:
        """Log-firing of each rule, (B, U): the sum of its premises' parts, by matrix products, or the least of them."""
        if self.worst:
            return self._least(bounded(x))
        origin = self.center.mean(axis=0)
        shifted, center = bounded(x) - origin, self.center - origin
        weighted = self.precision * center
        w: Numbers = -(shifted**2) @ self.precision.T + 2 * (shifted @ weighted.T)
        w -= (weighted * center).sum(axis=1)
        return w

    def _least(self, x: Numbers) -> Numbers:
        """The worst premise's part, (B, U), attribute by attribute."""
        least = np.zeros((len(x), len(self.center)))
        for column, center, precision in zip(x.T, self.center.T, self.precision.T, strict=True):
            np.minimum(least, -precision * (column[:, None] - center) ** 2, out=least)
        return least

    def scores(self, w: Numbers) -> Numbers:
        """Scores (B, U) of log-firings (B, U): after layer norm and certainty, before entmax."""
        return ScoreLine(self.slope, self.level).scores(w, layer_norm=self.layer_norm)


def bounded(x: ArrayLike) -> Numbers:
    """Inputs with their magnitude bounded as in the network."""
    return np.clip(np.asarray(x, dtype=np.float64), -INPUT_LIMIT, INPUT_LIMIT)


def _tables(rules: RuleBase) -> tuple[Numbers, Numbers, Numbers]:
    """Centres and widths (D, T), and the unit (D,) of every attribute; 0, 1 and 1 where there is no set."""
    counts: Indices = np.array([len(variable.terms) for variable in rules.inputs])
    shape = len(counts), max(int(counts.max()), 1)
    exists: NDArray[np.bool_] = np.arange(shape[1]) < counts[:, None]
    centers, widths = np.zeros(shape), np.ones(shape)
    centers[exists] = [term.center for variable in rules.inputs for term in variable.terms]
    widths[exists] = [term.width for variable in rules.inputs for term in variable.terms]
    unit = np.exp(np.log(widths).sum(axis=1) / np.maximum(counts, 1))
    return centers, widths, unit
