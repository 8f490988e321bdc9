"""Sparse maps of rows onto the probability simplex, for rows that may hold NaN.

The `entmax` package looks for a support of at least one entry. A row with a NaN has none, and ends in an index error
or in other numbers; here it becomes NaN as a whole, as under softmax, and so does its gradient.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import entmax
import torch
from torch import Tensor

from . import unseen_rows
from .tracing import may_look


def entmax15(shifted: Tensor) -> Tensor:
    """1.5-entmax over dim 1 of rows whose greatest entry is 0."""
    return _but_for_nan(_packaged15 if may_look(shifted) else unseen_rows.entmax15, shifted)


def sparsemax(shifted: Tensor) -> Tensor:
    """2-entmax over dim 1 of rows whose greatest entry is 0."""
    return _but_for_nan(_packaged2 if may_look(shifted) else unseen_rows.sparsemax, shifted)


def bisected(shifted: Tensor, alpha: float | Tensor) -> Tensor:
    """alpha-entmax over dim 1 of rows whose greatest entry is 0."""
    levels: Tensor
    if may_look(shifted):
        levels = entmax.entmax_bisect(shifted, alpha, dim=1)
    else:
        alpha = alpha if isinstance(alpha, Tensor) else shifted.new_full((), alpha)
        levels = unseen_rows.bisected(shifted, alpha)
    return levels


def _packaged15(rows: Tensor) -> Tensor:
    levels: Tensor = entmax.entmax15(rows, dim=1)
    return levels


def _packaged2(rows: Tensor) -> Tensor:
    levels: Tensor = entmax.sparsemax(rows, dim=1)
    return levels


def _but_for_nan(function: Callable[[Tensor], Tensor], rows: Tensor) -> Tensor:
    # A finite sum proves that there is no NaN; minus infinity, for a rule that cannot fire, is worth a closer look.
    if may_look(rows) and math.isfinite(float(rows.detach().sum())):
        return function(rows)
    lost = rows.detach().isnan().any(dim=1, keepdim=True)
    poison = torch.ones_like(lost, dtype=rows.dtype).masked_fill_(lost, math.nan)
    return torch.where(lost, rows * poison, function(rows.masked_fill(lost, 0)))
