"""UPGMA: tasks merged pair by pair at the mean distance between their groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from .errors import TableError, TooFewError


@dataclass(frozen=True)
class Merge:
    """Two groups of names that become one at `height`."""

    left: tuple[str, ...]
    right: tuple[str, ...]
    height: float

    @property
    def names(self) -> tuple[str, ...]:
        """The names of both groups."""
        return self.left + self.right


@dataclass(frozen=True, eq=False)
class Dendrogram:
    """The merges in order of height, and the same as SciPy's linkage matrix (for plotting)."""

    names: tuple[str, ...]
    merges: tuple[Merge, ...]
    linkage: NDArray[np.float64]


def upgma(names: Sequence[str], distances: ArrayLike) -> Dendrogram:
    """Average linkage of an (n, n) distance matrix; at least 2 names, else TooFewError."""
    matrix = np.asarray(distances, dtype=np.float64)
    if matrix.shape != (len(names), len(names)):
        raise TableError(f"distances must have one row and column per name, {len(names)}, got {matrix.shape}")
    if len(names) < 2:
        raise TooFewError(f"a dendrogram needs at least 2 tasks, got {len(names)}")
    if not np.isfinite(matrix).all() or not np.allclose(matrix, matrix.T) or np.diagonal(matrix).any():
        raise TableError("distances must be finite and symmetric, with zeros on the diagonal")
    steps = linkage(squareform(matrix, checks=False), method="average")
    groups: list[tuple[str, ...]] = [(name,) for name in names]
    merges = []
    for left, right, height, _ in steps:
        merges.append(Merge(groups[int(left)], groups[int(right)], float(height)))
        groups.append(merges[-1].names)
    steps.setflags(write=False)
    return Dendrogram(tuple(names), tuple(merges), steps)
