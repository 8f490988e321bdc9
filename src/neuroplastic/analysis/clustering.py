"""Trials grouped by their hyperparameters: OPTICS on a distance matrix, pooled scores, medoids."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.cluster import OPTICS

from .errors import AnalysisError, TableError, TooFewError
from .samples import Sample, pooled

# The paper reports a cluster of 3 trials, so its OPTICS asked for no more than that.
MIN_SAMPLES = 3


@dataclass(frozen=True)
class Cluster:
    """Trials that OPTICS put together: their indices, the medoid's index, and their scores pooled."""

    members: tuple[int, ...]
    medoid: int
    score: Sample

    @property
    def support(self) -> int:
        """Number of trials, the paper's 'Sup.'."""
        return len(self.members)


def medoid(distances: ArrayLike, members: Sequence[int] | None = None) -> int:
    """Index of the member with the least sum of distances to the others; of equals the first.

    Without `members` all rows of the (n, n) matrix are meant.
    """
    matrix = _matrix(distances)
    chosen = list(range(len(matrix)) if members is None else members)
    if not chosen:
        raise TooFewError("a medoid needs at least one member")
    sums = matrix[np.ix_(chosen, chosen)].sum(axis=1)
    return chosen[int(sums.argmin())]


def optics_labels(distances: ArrayLike, *, min_samples: int = MIN_SAMPLES) -> tuple[int, ...]:
    """OPTICS cluster of every row of an (n, n) distance matrix (xi method, scikit-learn), -1 for noise."""
    matrix = _matrix(distances)
    if min_samples < 2:
        raise AnalysisError(f"min_samples must be at least 2, got {min_samples!r}")
    if len(matrix) < min_samples:
        raise TooFewError(
            f"OPTICS needs at least min_samples = {min_samples} finished trials, got {len(matrix)}"
        )
    if matrix.max() == 0:
        return (0,) * len(matrix)  # all trials are the same one; reachability plots have no steep parts there
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)  # duplicates have reachability 0, its ratio 0 / 0
        labels = OPTICS(min_samples=min_samples, metric="precomputed").fit(matrix).labels_
    return tuple(int(label) for label in labels)


def clusters(
    distances: ArrayLike, scores: Sequence[Sample], *, min_samples: int = MIN_SAMPLES
) -> tuple[Cluster, ...]:
    """OPTICS clusters with medoid and pooled score, greatest pooled mean first; empty where all is noise."""
    matrix = _matrix(distances)
    if len(scores) != len(matrix):
        raise TableError(f"scores must have one entry per row, {len(matrix)}, got {len(scores)}")
    labels = np.array(optics_labels(matrix, min_samples=min_samples))
    found = []
    for label in sorted(set(labels[labels >= 0].tolist())):
        members = tuple(int(index) for index in np.flatnonzero(labels == label))
        found.append(Cluster(members, medoid(matrix, members), pooled([scores[index] for index in members])))
    return tuple(sorted(found, key=lambda cluster: -cluster.score.mean))


def _matrix(distances: ArrayLike) -> NDArray[np.float64]:
    matrix = np.asarray(distances, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise TableError(f"distances must be a square matrix, got shape {matrix.shape}")
    if not len(matrix):
        raise TooFewError("distances has no rows")
    if not np.isfinite(matrix).all() or (matrix < 0).any() or not np.allclose(matrix, matrix.T):
        raise TableError("distances must be finite, at least 0 and symmetric")
    return matrix
