"""The best trials of studies, learned anew with other seeds: `docs/data/doom_winners.csv`."""

from __future__ import annotations

import csv
from dataclasses import dataclass, fields
from pathlib import Path

WINNERS = Path(__file__).parent / "data" / "doom_winners.csv"


@dataclass(frozen=True)
class Winner:
    """The best trial's settings, learned anew with another seed."""

    task: str
    agent: str
    trial: int
    seed: int
    epochs: str
    score: float
    sd: float
    episodes: int

    @classmethod
    def read(cls, row: dict[str, str]) -> Winner:
        """From a row of the data file."""
        numbers = {"trial": int, "seed": int, "score": float, "sd": float, "episodes": int}
        return cls(**{f.name: numbers.get(f.name, str)(row[f.name]) for f in fields(cls)})


def winners() -> list[Winner]:
    """What was learned anew."""
    with WINNERS.open(newline="") as file:
        return [Winner.read(row) for row in csv.DictReader(file)]


def scores(again: list[Winner], task: str, agent: str) -> list[float]:
    """Of the winner's settings, a score a seed."""
    return [w.score for w in again if (w.task, w.agent) == (task, agent)]
