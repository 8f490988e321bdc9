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
    away = _distances(draft, x)
    worst = torch.stack([_worst(parts) for parts in away], dim=1) if len(away) else x.new_zeros(len(x), 0)
    outputs = torch.from_numpy(draft.outputs).to(x)

    def mean_loss(distances: Tensor, concluded: Tensor) -> float:
        firing = torch.softmax(-draft.gain * distances, dim=1)
        return float((loss(firing @ concluded, y) * weight).sum() / weight.sum())

    now = mean_loss(worst, outputs)
    for rule in range(len(draft.premises)):
        columns = np.flatnonzero(asked[rule])
        if not too_many and (not too_long.any() or too_long[rule]) and len(columns) > 1:
            for place, column in enumerate(columns):
                changed = worst.clone()
                changed[:, rule] = _worst(
                    torch.cat([away[rule][:, :place], away[rule][:, place + 1 :]], dim=1)
                )
                yield _Shed(mean_loss(changed, outputs) - now, rule, int(column))
        if len(draft.premises) > FEWEST_RULES and len(columns):
            others = [other for other in range(len(draft.premises)) if other != rule]
            gone = mean_loss(worst[:, others], outputs[others]) - now
            yield _Shed(gone / len(columns), rule, ANY)


def _distances(draft: Draft, x: Tensor) -> list[Tensor]:
    """Of each rule, minus the log-memberships of its premises, (B, premises)."""
    found = []
    for premises in draft.premises:
        columns = np.flatnonzero(premises != ANY)
        center, width = (
            torch.from_numpy(part[columns, premises[columns]]).to(x) for part in (draft.centers, draft.widths)
        )
        found.append(((x[:, columns] - center) / width).square() / 2)
    return found


def _worst(distances: Tensor) -> Tensor:
    """The greatest of distances (B, premises), (B,); 0 where there are none."""
    return distances.amax(dim=1) if distances.shape[1] else distances.new_zeros(len(distances))


def _some(data: Tensors) -> tuple[Tensor, Tensor, Tensor]:
    """Rows, targets and weights of enough rows, evenly over the table."""
    every = max(1, -(-len(data) // ENOUGH))
    return data.x[::every].double(), data.y[::every], data.weight[::every].double()
