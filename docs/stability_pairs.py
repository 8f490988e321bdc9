"""Trials of docs/data/doom_trials.csv that differ in one lever alone: what it does to the best and the last epoch."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from make_results import Group, read_groups


@dataclass(frozen=True)
class Change:
    """A lever: settings before and after it is pulled."""

    words: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]


CHANGES = (
    Change("returns of 3 steps instead of 1", {"n_step": 1}, {"n_step": 3}),
    Change("half of the transitions in a mirror", {"mirror": False}, {"mirror": True}),
    Change(
        "exploration falls sooner (.9995 a step)",
        {"exploration_decay": 0.9999},
        {"exploration_decay": 0.9995},
    ),
    Change("sooner still (.999)", {"exploration_decay": 0.9999}, {"exploration_decay": 0.999}),
    Change(
        "an average of the weights acts",
        {"target_every": 100, "target_rate": 1.0, "act_with": "network"},
        {"target_every": 1, "target_rate": 0.01, "act_with": "target"},
    ),
    Change("the step size falls to a tenth", {"anneal_updates": None}, {"anneal_updates": 5000}),
    Change("batches of 128 instead of 32", {"batch_size": 32}, {"batch_size": 128}),
    Change("two updates a step", {"updates_per_step": 1}, {"updates_per_step": 2}),
    Change("pictures moved by up to 2 pixels", {"shift_pixels": 0}, {"shift_pixels": 2}),
    Change("step size .001 instead of .0005", {"learning_rate": 5e-4}, {"learning_rate": 1e-3}),
)


@dataclass(frozen=True)
class Pair:
    """Means over the seeds that both have."""

    task: str
    best: tuple[float, float]
    """before and after"""
    last: tuple[float, float]

    def gaps(self) -> tuple[float, float]:
        """What lies between best and last epoch, before and after."""
        return self.best[0] - self.last[0], self.best[1] - self.last[1]


def pairs(change: Change, groups: list[Group]) -> list[Pair]:
    """All pairs of groups that differ in this and nothing else, and share seeds."""
    found = []
    for first in groups:
        if any(first.settings[name] != value for name, value in change.before.items()):
            continue
        wanted = {**first.settings, **change.after}
        for second in groups:
            same = (first.scenario, first.agent) == (second.scenario, second.agent)
            if same and second.settings == wanted:
                seeds = {t["seed"] for t in first.trials} & {t["seed"] for t in second.trials}
                if seeds:
                    found.append(
                        Pair(
                            first.scenario,
                            (_mean(first, "best_mean", seeds), _mean(second, "best_mean", seeds)),
                            (_mean(first, "last_mean", seeds), _mean(second, "last_mean", seeds)),
                        )
                    )
    return found


def _mean(group: Group, column: str, seeds: set[str]) -> float:
    return statistics.fmean(float(t[column]) for t in group.trials if t["seed"] in seeds)


def table(unit: Mapping[str, float]) -> str:
    """A line for each lever that has a pair; `unit` is what scores of a task are divided by."""
    lines = [
        "| lever | pairs | tasks | best epoch | last epoch | best less last, before | after | smaller in |",
        "|---|---|---|---|---|---|---|---|",
    ]
    groups = list(read_groups())
    for change in CHANGES:
        found = pairs(change, groups)
        if not found:
            continue
        by = [unit[pair.task] for pair in found]
        best, last = (
            statistics.median((e[1] - e[0]) / u for e, u in zip(ends, by, strict=True))
            for ends in ([p.best for p in found], [p.last for p in found])
        )
        before, after = (
            statistics.median(pair.gaps()[k] / u for pair, u in zip(found, by, strict=True)) for k in (0, 1)
        )
        smaller = sum(pair.gaps()[1] < pair.gaps()[0] for pair in found)
        equal = sum(pair.gaps()[1] == pair.gaps()[0] for pair in found)
        told = f"{smaller} of {len(found)}" + (f" ({equal} equal)" if equal else "")
        tasks = ", ".join(sorted({pair.task for pair in found}))
        lines.append(
            f"| {change.words} | {len(found)} | {tasks} | {best:+.2f} | {last:+.2f} | {before:.2f} "
            f"| {after:.2f} | {told} |"
        )
    return "\n".join(lines)
