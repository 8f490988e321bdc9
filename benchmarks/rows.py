"""Files of measurements: a row is written as soon as it is known, below a header that is written once."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def append(path: Path, fields: Sequence[str], row: Mapping[str, Any]) -> None:
    """Write a row, and print it."""
    new = not path.exists()
    with path.open("a", newline="") as file:
        rows = csv.DictWriter(file, fields, lineterminator="\n")
        if new:
            rows.writeheader()
        rows.writerow(row)
    print(row, flush=True)
