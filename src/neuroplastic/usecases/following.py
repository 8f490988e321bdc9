"""Runs followed while they train: their curves from the run folder's own files, and whether the rules still decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..experiment.run_folder import EpochMetrics, RunError, RunFolder
from ..rules.diagnosis import LEAST_CARRY, ONE_LEADER

CURVES = ("mean", "loss", "sets", "born", "premises", "rules_firing", "leading_rules", "carry")
"""What is drawn of a run, by its name in metrics.csv."""


@dataclass(frozen=True)
class FollowedRun:
    """A run's curves so far."""

    name: str
    title: str
    """task and agent in words"""
    wanted: int
    """epochs in all"""
    running: bool
    """whether somebody writes to it now"""
    steps: tuple[int, ...]
    """training steps after each epoch"""
    curves: dict[str, tuple[float | None, ...]]
    warning: str = ""
    """that the rule base is collapsed, where its last epoch says so"""
    problem: str = ""
    """why it cannot be read"""


def follow_runs(runs: Sequence[tuple[str, str | Path]]) -> list[FollowedRun]:
    """The curves of runs by name and path; one that cannot be read does not hide the others."""
    return [_followed(name, RunFolder(path)) for name, path in runs]


def _followed(name: str, folder: RunFolder) -> FollowedRun:
    try:
        config, metrics = folder.config(), folder.metrics()
    except (RunError, OSError) as error:
        return FollowedRun(name, "unreadable", 0, False, (), {}, problem=str(error))
    rows = [entry.row() for entry in metrics]
    curves = {
        curve: tuple(_finite(row.get(curve)) for row in rows)
        for curve in CURVES
        if any(curve in row for row in rows)
    }
    title, key = config.task.title, config.task.key
    title = f"{title if title == key else f'{title} ({key})'}, {config.agent}"
    steps = tuple(entry.steps for entry in metrics)
    running = (folder.path / "lock").exists() and folder.is_locked
    return FollowedRun(
        name,
        title,
        config.protocol.epochs,
        running,
        steps,
        curves,
        collapse_told(metrics[-1]) if metrics else "",
    )


def _finite(value: float | None) -> float | None:
    return None if value is None or value != value or abs(value) == float("inf") else float(value)


def collapse_told(last: EpochMetrics) -> str:
    """As `Diagnosis.collapsed` tells it, of the figures that a run keeps."""
    leading, carry = last.figures.get("leading_rules"), last.figures.get("carry")
    if leading is None or carry is None or (leading >= ONE_LEADER and carry >= LEAST_CARRY):
        return ""
    why = "one rule leads everywhere" if leading < ONE_LEADER else "nearly the same is decided everywhere"
    return (
        f"After epoch {last.epoch} {why}: {100 * carry:.0f} % of the decisions depend on which rules fire (the rule "
        "base is collapsed). Where the score is good that is no fault: one decision may nearly always be the best. "
        "Where it is not, train on; if that does not help, begin anew with few short rules (readable)."
    )
