"""Premises and rules that do not pay are shed, the least useful first.

What a premise is worth is what the loss on the rows rises by without it; what a rule is worth, the same, for each of
the premises that go with it. So the size of a model is spent where it helps most.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ..training import Loss, Tensors
from .draft import ANY, Draft
from .limits import Limits

# So many rows are enough to tell what a premise is worth.
ENOUGH = 2000
# A rule far from a row still fires so much beside the nearest, so that the others say something without it.
LEAST_FIRING = 1e-300
# A rule so much nearer than all others says it alone; more would not be a number.
MOST_LOG_FIRING = 600.0
# Fewer rules cannot tell anything apart.
FEWEST_RULES = 2


class _Shed(NamedTuple):
    """What could go: a premise of a rule, or the whole rule (column ANY), and what that costs for each premise."""

    cost: float
    rule: int
    column: int


def shed(draft: Draft, data: Tensors, loss: Loss, limits: Limits, price: float) -> Draft:
    """The draft without what goes first, until it keeps the limits and nothing is left that is not worth the `price`:
    what a premise has to lower the mean loss by."""
    rows = _some(data)
    while True:
        over = _over(draft, limits)
        best = min(_choices(draft, rows, loss, limits), default=None)
        if best is None or not (over or best.cost < price):
            return draft
        if best.column == ANY:
            draft = draft.kept(np.arange(len(draft.premises)) != best.rule)
        else:
            premises = draft.premises.copy()
            premises[best.rule, best.column] = ANY
            draft = replace(draft, premises=premises)


def _over(draft: Draft, limits: Limits) -> bool:
    """Whether a limit is not kept."""
    longest = int((draft.premises != ANY).sum(axis=1).max())
    rules = limits.rules is not None and len(draft.premises) > limits.rules
    return rules or longest > limits.premises or draft.size > limits.size


def _choices(
    draft: Draft, rows: tuple[Tensor, Tensor, Tensor], loss: Loss, limits: Limits
) -> Iterator[_Shed]:
    """All that could go next; where a limit is not kept, only what helps to keep it."""
    x, y, weight = rows
    asked = draft.premises != ANY
    lengths = asked.sum(axis=1)
    too_many = limits.rules is not None and len(draft.premises) > limits.rules
    too_long = lengths > limits.premises if not too_many else np.zeros(len(lengths), dtype=bool)
    away = [torch.from_numpy(parts) for parts in draft.distances(x.numpy())]
    votes = _Votes.of(torch.stack([_worst(parts) for parts in away], dim=1), draft)

    def mean_loss(outputs: Tensor) -> float:
        return float((loss(outputs, y) * weight).sum() / weight.sum())

    now = mean_loss(votes.outputs)
    for rule in range(len(draft.premises)):
        columns = np.flatnonzero(asked[rule])
        if not too_many and (not too_long.any() or too_long[rule]) and len(columns) > 1:
            for column, distance in zip(columns, _without_one(away[rule]), strict=True):
                yield _Shed(mean_loss(votes.with_another(rule, distance)) - now, rule, int(column))
        if len(draft.premises) > FEWEST_RULES and len(columns) and (not too_long.any() or too_long[rule]):
            # A rule that is too long may go instead of being shortened, if that costs no more than one of its premises.
            saved = 1 if too_long[rule] else len(columns)
            yield _Shed((mean_loss(votes.without(rule)) - now) / saved, rule, ANY)


class _Votes(NamedTuple):
    """What rules say together on rows: a softmax of minus `gain` times their distances (B, U), kept as its parts.

    One rule fires otherwise, or not at all: that changes one summand of each part, and costs no more than that.
    """

    gain: float
    nearest: Tensor
    """the least distance of each row, (B,)"""
    firing: Tensor
    """beside the rule that fires most, (B, U)"""
    concluded: Tensor
    """(U, O)"""
    before: tuple[Tensor, Tensor]
    """the sums of firing, and of firing times conclusions, of the rules before each: (B, U + 1), (B, U + 1, O)"""
    after: tuple[Tensor, Tensor]
    """those of the rules after each"""

    @classmethod
    def of(cls, distances: Tensor, draft: Draft) -> _Votes:
        """The votes of a draft's rules with these distances."""
        concluded = torch.from_numpy(draft.outputs).to(distances)
        nearest = distances.amin(dim=1)
        firing = (-draft.gain * (distances - nearest[:, None])).exp().clamp(min=LEAST_FIRING)
        said = firing[:, :, None] * concluded
        sums = tuple(
            torch.cat([part.new_zeros(part[:, :1].shape), part.cumsum(1)], 1) for part in (firing, said)
        )
        rest = tuple(
            torch.cat([part.flip(1).cumsum(1).flip(1)[:, 1:], part.new_zeros(part[:, :1].shape)], 1)
            for part in (firing, said)
        )
        return cls(draft.gain, nearest, firing, concluded, (sums[0], sums[1]), (rest[0], rest[1]))

    @property
    def outputs(self) -> Tensor:
        """What all of them say, (B, O)."""
        total, said = self.before
        return said[:, -1] / total[:, -1:]

    def without(self, rule: int) -> Tensor:
        """What the others say, (B, O). Sums of those before and after: a difference would lose all digits."""
        total, said = (
            (left[:, rule] + right[:, rule]) for left, right in zip(self.before, self.after, strict=True)
        )
        return said / total[:, None]

    def with_another(self, rule: int, distance: Tensor) -> Tensor:
        """What they say if one of them has this distance (B,)."""
        firing = (-self.gain * (distance - self.nearest)).clamp(max=MOST_LOG_FIRING).exp()
        total, said = (
            (left[:, rule] + right[:, rule]) for left, right in zip(self.before, self.after, strict=True)
        )
        return (said + firing[:, None] * self.concluded[rule]) / (total + firing)[:, None]


def _without_one(distances: Tensor) -> Iterator[Tensor]:
    """The greatest of two distances or more (B, premises) without each of them in turn, (B,)."""
    (first, second), place = distances.topk(2, dim=1).values.T, distances.argmax(dim=1)
    for one in range(distances.shape[1]):
        yield torch.where(place == one, second, first)


def _worst(distances: Tensor) -> Tensor:
    """The greatest of distances (B, premises), (B,); 0 where there are none."""
    return distances.amax(dim=1) if distances.shape[1] else distances.new_zeros(len(distances))


def _some(data: Tensors) -> tuple[Tensor, Tensor, Tensor]:
    """Rows, targets and weights of enough rows, evenly over the table."""
    every = max(1, -(-len(data) // ENOUGH))
    return data.x[::every].double(), data.y[::every], data.weight[::every].double()
