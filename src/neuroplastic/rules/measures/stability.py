"""Whether training again finds the same rules: the rules of networks matched one to one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ...errors import ConfigError
from ...network.hierarchy import Hierarchy
from ...network.nfn import NeuroFuzzyNetwork
from ..estimators import not_a_network
from ..rule_base import IGNORED
from ..simplification.draft import Draft, draft_of
from .overlap import jaccard


@dataclass(frozen=True)
class Stability:
    """How alike the rules of several networks are, from 0 to 1, pair by pair. `str()` gives a sentence."""

    networks: int
    pairs: tuple[tuple[int, int, float], ...]
    """(network, network, similarity), networks from 0"""

    @property
    def mean(self) -> float:
        """Mean over all pairs."""
        return sum(similarity for _, _, similarity in self.pairs) / len(self.pairs)

    @property
    def least(self) -> float:
        """Of the pair that agrees least."""
        return min(similarity for _, _, similarity in self.pairs)

    def __str__(self) -> str:
        return (
            f"rules of {self.networks} networks: similarity {self.mean:.2f} on average, "
            f"{self.least:.2f} of the pair that agrees least (1 is equal)"
        )


def rule_stability(nets: Sequence[NeuroFuzzyNetwork]) -> Stability:
    """How alike the rules of networks are that were trained alike, for instance with different seeds.

    Two premises on the same attribute are as alike as their sets, by the Jaccard index; one that asks and one that
    does not, 0. Two rules are as alike as their premises on average, over the attributes that at least one of
    them asks for (1 if neither asks anything). The rules of two networks are matched one to one so that the sum of
    similarities is greatest; similarity of the networks is that sum over the greater number of rules, so that a
    rule without a partner counts 0. Neither the order of rules nor that of sets matters. Consequents do not count.
    """
    nets = list(nets)
    if len(nets) < 2:
        raise ConfigError(f"rule_stability compares at least two networks, got {len(nets)}")
    for net in nets:
        if isinstance(net, Hierarchy):
            raise ConfigError("nets must be NeuroFuzzyNetworks, got a Hierarchy; compare them level by level")
        if not isinstance(net, NeuroFuzzyNetwork):
            raise not_a_network(net, "nets must be NeuroFuzzyNetworks")
    widths = {net.in_features for net in nets}
    if len(widths) > 1:
        raise ConfigError(f"nets must have the same inputs, got {sorted(widths)} attributes")
    drafts = [draft_of(net) for net in nets]
    pairs = []
    for first, second in combinations(range(len(nets)), 2):
        alike = rule_similarities(drafts[first], drafts[second]).numpy()
        matched = float(alike[best_match(alike)].sum())
        pairs.append((first, second, matched / max(alike.shape)))
    return Stability(len(nets), tuple(pairs))


def rule_similarities(first: Draft, second: Draft) -> Tensor:
    """Similarity of every rule of one network (U) with every rule of the other (V), (U, V)."""
    total = torch.zeros(len(first), len(second), dtype=torch.float64)
    union = torch.zeros_like(total)
    for attribute in range(first.premises.shape[1]):
        chosen = first.premises[:, attribute], second.premises[:, attribute]
        asks = (chosen[0] != IGNORED).unsqueeze(1), (chosen[1] != IGNORED).unsqueeze(0)
        sets = [
            (draft.centers[attribute][slots.clamp_min(0)], draft.widths[attribute][slots.clamp_min(0)])
            for draft, slots in zip((first, second), chosen, strict=True)
        ]
        alike = jaccard(sets[0][0].unsqueeze(1), sets[0][1].unsqueeze(1), *sets[1])
        total += torch.where(asks[0] & asks[1], alike, 0.0)
        union += asks[0] | asks[1]
    return torch.where(union > 0, total / union.clamp_min(1), 1.0)


def best_match(
    alike: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows and columns of (U, V) matched one to one so that the sum of the entries is greatest.

    The Hungarian method with shortest augmenting paths: row by row, each step of a path in one pass over columns.
    """
    turned = alike.shape[0] > alike.shape[1]
    costs = -(alike.T if turned else alike)
    count, width = costs.shape
    # Index 0 stands for "no row" and "no column", so real ones count from 1.
    row_price, column_price = np.zeros(count + 1), np.zeros(width + 1)
    row_of = np.zeros(width + 1, dtype=np.int64)
    for row in range(1, count + 1):
        row_of[0] = row
        column = 0
        slack = np.full(width + 1, np.inf)
        came_from = np.zeros(width + 1, dtype=np.int64)
        done = np.zeros(width + 1, dtype=np.bool_)
        while row_of[column]:
            done[column] = True
            at = row_of[column]
            reduced = costs[at - 1] - row_price[at] - column_price[1:]
            better = ~done[1:] & (reduced < slack[1:])
            slack[1:][better] = reduced[better]
            came_from[1:][better] = column
            following = int(np.argmin(np.where(done, np.inf, slack)[1:])) + 1
            step = slack[following]
            row_price[row_of[done]] += step
            column_price[done] -= step
            slack[~done] -= step
            column = following
        while column:
            row_of[column] = row_of[came_from[column]]
            column = int(came_from[column])
    columns = np.flatnonzero(row_of[1:])
    rows = row_of[1:][columns] - 1
    return (columns, rows) if turned else (rows, columns)
