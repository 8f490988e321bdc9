"""Categories in the order of what they tell about the target, so that those that say the same lie side by side."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from ..encoding import UNKNOWN, Column
from ..reading import Table
from ..rows import Numbers


def ordered_by_target(
    columns: tuple[Column, ...], X: Table, targets: Numbers, weight: Numbers
) -> tuple[Column, ...]:
    """The columns with their categories in order of the first principal component of the targets' means (N, O).

    For two classes or one number that is the order in which cutting once is as good as any grouping in two.
    """
    return tuple(
        column if column.kind != "category" else _ordered(column, place, X, targets, weight)
        for place, column in enumerate(columns)
    )


def _ordered(column: Column, place: int, X: Table, targets: Numbers, weight: Numbers) -> Column:
    values = X[:, place] if isinstance(X, np.ndarray) else X.iloc[:, place]
    codes = column.places(pd.Series(values))
    known = codes != UNKNOWN
    count = np.bincount(codes[known], weight[known], minlength=len(column.categories))
    means = np.stack(
        [
            np.bincount(codes[known], (weight * one)[known], minlength=len(count))
            / np.where(count > 0, count, 1)
            for one in targets.T
        ],
        axis=1,
    )
    centred = (means - count @ means / count.sum()) * np.sqrt(count)[:, None]
    direction = np.linalg.svd(centred, full_matrices=False)[2][0]
    direction = direction * np.sign(direction[np.abs(direction).argmax()])
    order = np.lexsort((np.arange(len(count)), np.round(means @ direction, 12)))
    return replace(column, categories=tuple(column.categories[place] for place in order))
