"""What each fired rule adds to each output, so that the parts add up to the network's own output."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..rule_base import Indices, Linear, Numbers, RuleBase

# Decisions of all rules are made for so many numbers at once; a large batch goes through in parts.
NUMBERS_AT_ONCE = 1 << 22


def shares_of(rules: RuleBase, x: Numbers, rows: Indices, fired: Indices, firing: Numbers) -> Numbers:
    """What each fired rule adds to each output, (F, O): firing times decision.

    Centre of area: `firing * width * center / sum(firing * width)`, whose weights add up to 1 as well.
    """
    consequents = rules.consequents
    if isinstance(consequents, Linear):
        return firing[:, None] * _decisions(consequents, x, rows, fired)
    tables = [(o, [(t.center, t.width) for t in variable.terms]) for o, variable in enumerate(rules.outputs)]
    chosen = np.stack([np.array(sets)[consequents.terms[:, o]] for o, sets in tables], axis=1)[fired]
    weight: Numbers = np.repeat(firing[:, None], len(tables), axis=1)
    if consequents.defuzzifier == "area":
        weight = weight * chosen[..., 1]
        total = np.zeros((len(x), len(tables)))
        np.add.at(total, rows, weight)
        weight = weight / total[rows]
    shares: Numbers = weight * chosen[..., 0]
    return shares


def _decisions(consequents: Linear, x: Numbers, rows: Indices, fired: Indices) -> Numbers:
    """What each fired rule decides, (F, O)."""
    decided: Numbers = consequents.bias[fired]
    if consequents.is_constant:
        return decided
    count, outputs, attributes = consequents.weight.shape
    weight = consequents.weight.reshape(count * outputs, attributes).T
    size = max(1, NUMBERS_AT_ONCE // (count * outputs))
    places = np.searchsorted(rows, np.arange(0, len(x) + size, size))
    for block, (start, end) in enumerate(pairwise(places.tolist())):
        first = block * size
        linear = (x[first : first + size] @ weight).reshape(-1, count, outputs)
        decided[start:end] += linear[rows[start:end] - first, fired[start:end]]
    return decided


def adding_up(shares: Numbers, firing: Numbers, output: Numbers, rows: Indices, starts: Indices) -> Numbers:
    """The shares with the network's own rounding spread over them by their magnitude, so that they add up.

    A single-precision network's output is its exact sum only to some 1e-7; each share moves by as little.
    """
    total = np.add.reduceat(shares, starts[:-1], axis=0) if len(output) else np.zeros_like(output)
    size = np.abs(shares)
    reach = np.add.reduceat(size, starts[:-1], axis=0) if len(output) else np.zeros_like(output)
    # With no magnitudes to go by (all shares 0), by firing, which adds up to 1.
    part = np.where(reach[rows] > 0, size / np.where(reach > 0, reach, 1)[rows], firing[:, None])
    return shares + (output - total)[rows] * part
