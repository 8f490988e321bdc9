"""Readability as figures: what there is to read, how well sets tell values apart, how many rules make a decision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ...errors import ConfigError
from ...network.hierarchy import Hierarchy
from ...network.nfn import NeuroFuzzyNetwork
from ..estimators import not_a_network
from ..names import hidden_names, variable_names
from ..networks import evaluating, levels_of, rows_of, said
from ..rule_base import IGNORED
from ..simplification.draft import Draft, draft_of
from .overlap import jaccard

# Where a network does not grow, an input counts as covered from this membership on.
EPSILON = 0.3


@dataclass(frozen=True)
class AttributeFigures:
    """One input: its sets and how well they describe it."""

    name: str
    sets: int
    rules: int
    """rules that ask for it"""
    overlap: float | None
    """mean Jaccard index of neighbouring sets; None with fewer than two"""
    distinguishability: float | None
    """1 less the greatest Jaccard index of any two of its sets; None with fewer than two"""
    coverage: float | None
    """share of the rows whose value reaches epsilon in some set; None without sets or data"""


@dataclass(frozen=True)
class Firing:
    """How rules share decisions on the data. A rule is active on a row where its firing level is above 0."""

    rows: int
    active_mean: float
    """active rules per row"""
    active_most: int
    leading: float
    """mean of the greatest firing level of a row: 1 where a single rule decides"""
    idle: tuple[int, ...]
    """numbers, from 1, of the rules that are active on no row"""


@dataclass(frozen=True)
class Readability:
    """Figures of one network. `str()` gives a table."""

    rules: int
    distinct_rules: int
    """rules that differ in their premises"""
    sets: int
    unused_sets: int
    """sets that no rule asks for"""
    premises: int
    """premises that ask something, over all rules"""
    most_premises: int
    """of one rule"""
    epsilon: float
    """membership from which on a value counts as covered"""
    attributes: tuple[AttributeFigures, ...]
    coverage: float | None
    """share of the values covered, of all attributes that have sets; None without data or sets"""
    complete_rows: float | None
    """share of the rows that are covered on every attribute that has sets"""
    firing: Firing | None
    """None without data"""

    @property
    def premises_per_rule(self) -> float:
        """Mean number of premises that ask something."""
        return self.premises / self.rules

    @property
    def sets_per_attribute(self) -> float:
        """Mean number of sets."""
        return self.sets / len(self.attributes)

    @property
    def used_attributes(self) -> int:
        """Attributes that some rule asks for."""
        return sum(attribute.rules > 0 for attribute in self.attributes)

    @property
    def overlap(self) -> float | None:
        """Mean over the attributes that have at least two sets."""
        return _mean([attribute.overlap for attribute in self.attributes])

    @property
    def distinguishability(self) -> float | None:
        """Mean over the attributes that have at least two sets."""
        return _mean([attribute.distinguishability for attribute in self.attributes])

    def lines(self) -> list[tuple[str, str]]:
        """Each figure as a name and what it says in words; those on data only where there were data."""
        found = [
            ("rules", f"{self.rules}, of which {self.distinct_rules} differ in their premises"),
            ("premises per rule", f"{self.premises_per_rule:.1f}, at most {self.most_premises}"),
            ("attributes asked", f"{self.used_attributes} of {len(self.attributes)}"),
            (
                "sets per attribute",
                f"{self.sets_per_attribute:.1f}, in all {self.sets}, {self.unused_sets} unused",
            ),
            ("distinguishability", _shown(self.distinguishability)),
            ("overlap", _shown(self.overlap)),
        ]
        if self.firing is not None:
            firing, covered = self.firing, f"{_shown(self.coverage)} of the values"
            found += [
                (
                    "coverage",
                    f"{covered}, {_shown(self.complete_rows)} of the rows, at membership {self.epsilon:g}",
                ),
                ("active rules", f"{firing.active_mean:.1f} per decision, at most {firing.active_most}"),
                ("leading rule", f"{firing.leading:.2f} of a decision"),
                ("rules never active", f"{len(firing.idle)} on {firing.rows} rows"),
            ]
        return found

    def __str__(self) -> str:
        return "\n".join(f"{name:<20}{words}" for name, words in self.lines())


def readability(
    net: NeuroFuzzyNetwork | Hierarchy,
    data: Any = None,
    *,
    feature_names: Sequence[str] | None = None,
    epsilon: float | None = None,
) -> Readability:
    """Figures of a network; coverage and firing need `data` (B, D), as the network sees it.

    Overlap and distinguishability are Jaccard indices of sets, `integral of min / integral of max`. `epsilon` is by
    default the neurogenesis's, 0.3 for a network that does not grow. "Any" is no set. Of a hierarchy with several
    levels, see `readabilities`.
    """
    if isinstance(net, Hierarchy) and len(net.levels) == 1:
        net = net.levels[0]
    if isinstance(net, Hierarchy):
        raise ConfigError("net must be a NeuroFuzzyNetwork, got a Hierarchy, which has npl.readabilities")
    if not isinstance(net, NeuroFuzzyNetwork):
        raise not_a_network(net, "net must be a NeuroFuzzyNetwork")
    if epsilon is None:
        epsilon = EPSILON if net.neurogenesis is None else net.neurogenesis.epsilon
    if not 0 < epsilon < 1:
        raise ConfigError(f"epsilon must lie between 0 and 1, got {epsilon!r}")
    draft = draft_of(net)
    x = None if data is None else rows_of(data, net)
    covered = None if x is None else net.covered(x, epsilon).cpu()
    described = draft.exists.any(dim=1)
    names = variable_names(feature_names, net.in_features, "feature")
    attributes = tuple(_attribute(draft, name, place, covered) for place, name in enumerate(names))
    of_sets = None if covered is None or not bool(described.any()) else covered[:, described]
    asks = (draft.premises != IGNORED).sum(dim=1)
    return Readability(
        rules=len(draft),
        distinct_rules=len(set(map(tuple, draft.premises.tolist()))),
        sets=draft.size.sets,
        unused_sets=int((draft.exists & ~draft.used()).sum()),
        premises=int(asks.sum()),
        most_premises=int(asks.max()),
        epsilon=epsilon,
        attributes=attributes,
        coverage=None if of_sets is None else float(of_sets.double().mean()),
        complete_rows=None if of_sets is None else float(of_sets.all(dim=1).double().mean()),
        firing=None if x is None else _firing(net, x),
    )


def readabilities(
    net: Hierarchy, data: Any = None, *, epsilon: float | None = None
) -> tuple[Readability, ...]:
    """Figures of every level of a hierarchy; each level's data are the outputs of the one below."""
    found, levels = [], levels_of(net)
    x = None if data is None else rows_of(data, levels[0])
    for number, level in enumerate(levels, start=1):
        names = None if number == 1 else hidden_names(number - 1, level.in_features)
        found.append(readability(level, x, feature_names=names, epsilon=epsilon))
        if x is not None:
            x = said(level, x)
    return tuple(found)


@torch.no_grad()
def _firing(net: NeuroFuzzyNetwork, x: Tensor) -> Firing:
    with evaluating(net):
        levels = net.firing(x).cpu()
    active = levels > 0
    per_row = active.sum(dim=1)
    return Firing(
        rows=len(x),
        active_mean=float(per_row.double().mean()),
        active_most=int(per_row.max()),
        leading=float(levels.double().amax(dim=1).mean()),
        idle=tuple(int(rule) + 1 for rule in (~active.any(dim=0)).nonzero().squeeze(1)),
    )


def _attribute(draft: Draft, name: str, place: int, covered: Tensor | None) -> AttributeFigures:
    exists = draft.exists[place]
    centers, widths = draft.centers[place][exists], draft.widths[place][exists]
    order = centers.argsort(stable=True)
    centers, widths = centers[order], widths[order]
    overlap = distinguishability = None
    if len(centers) > 1:
        alike = jaccard(centers.unsqueeze(1), widths.unsqueeze(1), centers, widths)
        overlap = float(alike.diagonal(1).mean())
        distinguishability = 1 - float((alike - torch.eye(len(alike), dtype=alike.dtype)).max())
    return AttributeFigures(
        name=name,
        sets=len(centers),
        rules=int((draft.premises[:, place] != IGNORED).sum()),
        overlap=overlap,
        distinguishability=distinguishability,
        coverage=None if covered is None or not len(centers) else float(covered[:, place].double().mean()),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _shown(value: float | None) -> str:
    return "none to compare" if value is None else f"{value:.2f}"
