"""Does accuracy go on rising with rows, and at what time beside scikit-learn's MLP?

`python -m benchmarks many_rows [10000 100000 1000000]`: both with their defaults, one thread, a made table of 30
columns (10 of them informative, 5 redundant, 8 clusters a class); accuracy on 50,000 further rows. The settings for
many rows were chosen on the table of another seed.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence

import numpy as np
from sklearn.datasets import make_classification
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

import neuroplastic as npl

ROWS, FURTHER, SEED = (10_000, 30_000, 100_000, 300_000, 1_000_000), 50_000, 7


def made() -> tuple[np.ndarray, np.ndarray]:
    """All rows there may be, and the further ones behind them."""
    return make_classification(
        max(ROWS) + FURTHER,
        30,
        n_informative=10,
        n_redundant=5,
        n_clusters_per_class=8,
        random_state=SEED,
    )


def main(arguments: Sequence[str] = ()) -> None:
    print(
        "| rows | ours: rules, updates | accuracy | seconds | MLP: accuracy | seconds |\n|---|---|---|---|---|---|"
    )
    x, y = made()
    for rows in map(int, arguments or ROWS):
        ours = npl.NeuroFuzzyClassifier(random_state=0)
        cells = []
        for model in (ours, make_pipeline(StandardScaler(), MLPClassifier(random_state=0))):
            with threadpool_limits(1), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                began = time.perf_counter()
                model.fit(x[:rows], y[:rows])
                seconds = time.perf_counter() - began
            cells.append(f"{100 * model.score(x[-FURTHER:], y[-FURTHER:]):.1f} % | {seconds:.0f}")
        size = f"{ours.network_.rules}, {ours.n_iter_}"
        print(f"| {rows:,} | {size} | {cells[0]} | {cells[1]} |", flush=True)
