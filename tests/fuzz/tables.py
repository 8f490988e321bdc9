"""Tables as CSV and as Parquet: read as for a fit, and given to a fitted model."""

import datetime
import decimal
import io
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from neuroplastic.learn.columns import Columns, read_table
from tests.fuzz.kind import Change, Kind, replaced
from tests.fuzz.using import command, outcome

KEPT = Path(__file__).parents[1] / "kept" / "v0_1" / "table"
FIELDS = (
    *(
        "",
        "x",
        "-1",
        "1e999",
        "-1e999",
        "nan",
        "inf",
        "9" * 400,
        "[" * 100_000,
        '"',
        '"a',
        "a\x1b[31mb",
        "\0",
        "1,5",
        "2020-13-45",
    ),
    *(
        "a\nb",
        "1," * 2000,
        "\ufeff",
        "\u202e",
        "True",
        "1_000",
        "0x1F",
        "1e400",
        "'",
        ";",
        "\t",
        "<script>",
        "=1+1",
        "é" * 50_000,
    ),
)
COLUMNS: dict[str, Callable[[int], Any]] = {
    "lists": lambda n: [[1, 2]] * n,
    "dictionaries": lambda n: [{"a": [1]}] * n,
    "bytes": lambda n: [b"\xff\x00"] * n,
    "nothing": lambda n: [None] * n,
    "infinities": lambda n: [float("inf"), float("-inf")] * (n // 2) + [0.0] * (n % 2),
    "great numbers": lambda n: [2**63 - 1] * n,
    "decimals": lambda n: [decimal.Decimal("1e30")] * n,
    "dates": lambda n: [datetime.date(2020, 1, 1)] * n,
    "times with zones": lambda n: pd.date_range("1700", periods=n, freq="D", tz="UTC"),
    "spans": lambda n: pd.to_timedelta(np.arange(n), unit="s"),
    "categories": lambda n: pd.Categorical(["a", None] * (n // 2) + ["b"] * (n % 2)),
    "truth": lambda n: [True, None] * (n // 2) + [False] * (n % 2),
    "halves": lambda n: np.arange(n, dtype=np.float16),
    "long text": lambda n: ["x" * 100_000] * n,
    "control characters": lambda n: ["a\x1b]0;x\x07b"] * n,
}


@cache
def _frame() -> pd.DataFrame:
    return pd.read_csv(KEPT / "data.csv")


def _target() -> str:
    import json

    return str(json.loads((KEPT / "model" / "columns.json").read_text())["target"])


def _parquet(frame: pd.DataFrame) -> bytes:
    content = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frame.to_parquet(content)
    return content.getvalue()


def _changes_of_csv() -> list[Change]:
    lines = (KEPT / "data.csv").read_text(encoding="utf-8").splitlines()
    found = list[Change]()
    for line, text in enumerate(lines[:4]):
        cells = text.split(",")
        for place in range(len(cells)):
            for value in FIELDS:
                changed = ",".join([*cells[:place], value, *cells[place + 1 :]])
                content = "\n".join([*lines[:line], changed, *lines[line + 1 :]])
                found.append((f"cell {place} of line {line} = {value!r:.20}", "data.csv", content.encode))
    for label, content in {
        "only a header": lines[0],
        "many columns": ",".join(f"c{k}" for k in range(4000)) + "\n" + "1," * 4000,
        "two rows": "\n".join(lines[:3]),
        "all the same": "\n".join([lines[0], *[lines[1]] * 30]),
        "another mark": "\n".join(lines).replace(",", ";"),
        "names twice": "\n".join([",".join([lines[0].split(",")[0]] * len(lines[0].split(","))), *lines[1:]]),
    }.items():
        found.append((label, "data.csv", content.encode))
    found.append(("another encoding", "data.csv", lambda: "\n".join(lines).encode("utf-16")))
    return [*found, *replaced(["data.csv"])]


def _changes_of_parquet() -> list[Change]:
    frame, found = _frame(), list[Change]()

    def change(label: str, make: Callable[[], pd.DataFrame]) -> None:
        found.append((label, "data.parquet", lambda: _parquet(make())))

    for column in frame.columns:
        for label, values in COLUMNS.items():
            change(f"{column} of {label}", lambda c=column, v=values: frame.assign(**{c: v(len(frame))}))
        change(f"without {column}", lambda c=column: frame.drop(columns=c))
        for name in ("", "a\x1b[2J", "x" * 100_000, "<b>", "0"):
            change(f"{column} called {name!r:.20}", lambda c=column, n=name: frame.rename(columns={c: n}))
    change("no rows", lambda: frame.iloc[:0])
    change("one row", lambda: frame.iloc[:1])
    change("no columns", lambda: frame[[]])
    change("an index", lambda: frame.set_index(list(frame.columns[:2])))
    return [*found, *replaced(["data.parquet"])]


def _uses(name: str) -> Callable[[Path], list[str]]:
    def uses(folder: Path) -> list[str]:
        path = folder / name

        def read() -> None:
            frame = read_table(path)
            columns = Columns.of(frame, _target())
            columns.rows(frame)
            columns.targets(frame)

        return [
            outcome(read, ""),
            command("predict", str(KEPT / "model"), str(path)),
            command("explain", str(KEPT / "model"), str(path)),
        ]

    return uses


TABLES = {
    "csv": Kind(lambda: {"data.csv": (KEPT / "data.csv").read_bytes()}, _changes_of_csv, _uses("data.csv")),
    "parquet": Kind(lambda: {"data.parquet": _parquet(_frame())}, _changes_of_parquet, _uses("data.parquet")),
}
