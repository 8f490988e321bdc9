"""Studies whose truth is known: the learning rate decides the mean, all else is noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution

from neuroplastic.analysis.study_table import Epoch, StudyTable, TrialRow, study_table

SPACE: dict[str, BaseDistribution] = {
    "rules": CategoricalDistribution((64, 128, 192, 256)),
    "stge": CategoricalDistribution((False, True)),
    "learning_rate": FloatDistribution(1e-4, 1e-3),
    "temperature": FloatDistribution(0.25, 1.25),
}


def made_up_study(
    rows: Sequence[tuple[dict[str, Any], float]] | None = None,
    *,
    trials: int = 0,
    task: str = "BP",
    agent: str = "nfn",
    conditional: bool = False,
    seed: int = 0,
) -> StudyTable:
    """A study of `trials` random trials, or of rows of (hyperparameters, mean)."""
    generator = np.random.default_rng(seed)
    if rows is None:
        rows = [_random_row(generator, conditional) for _ in range(trials)]
    used = {name: part for name, part in SPACE.items() if any(name in row for row, _ in rows)}
    table = tuple(
        _trial(number, parameters, mean, generator) for number, (parameters, mean) in enumerate(rows)
    )
    return study_table(
        f"{task}-{agent}", table, task=task, agent=agent, protocol="3 epochs of 10 steps", distributions=used
    )


def _random_row(generator: np.random.Generator, conditional: bool) -> tuple[dict[str, Any], float]:
    row: dict[str, Any] = {
        "rules": int(generator.choice([64, 128, 192, 256])),
        "stge": bool(generator.integers(2)),
        "learning_rate": float(generator.uniform(1e-4, 1e-3)),
    }
    if row["stge"] or not conditional:
        row["temperature"] = float(generator.uniform(0.25, 1.25))
    return row, 1e5 * row["learning_rate"] + float(generator.normal(0, 2))


def _trial(number: int, parameters: dict[str, Any], mean: float, generator: np.random.Generator) -> TrialRow:
    returns = generator.normal(0, 1, 25)
    returns = mean + 5 * (returns - returns.mean()) / returns.std(ddof=1)
    epochs = tuple(Epoch(epoch, mean - 20 / epoch + 20 / 3, 5.0) for epoch in (1, 2, 3))
    slope = 10 / 3
    return TrialRow(
        number,
        "COMPLETE",
        parameters,
        mean,
        5.0,
        slope,
        epochs,
        tuple(returns.tolist()),
        "3 epochs of 10 steps",
    )
