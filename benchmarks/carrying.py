"""What `carry` can be with constant conclusions: `python -m benchmarks carrying [DTC DTC-dnn ...]`.

Rules that all fire as on average decide for one action, that of the greatest mean advantage, for advantages are sums of
firing times constants: `carry` is 1 less the share of that action in play. The same share can be told of a plain
network's advantages, and is what rules would have that conclude the same action values. For each agent of the box: how
many actions it has, how often it takes the one it takes most, how often that of the greatest mean advantage, `carry` as
diagnosed, and `alone`, the share of decisions that stay when the mean advantage is taken away; of rules also how they
play without it, their conclusions centred. Rows go to docs/data/carrying.csv; `--page` puts the table into
docs/pixels.md.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.pages import put_between
from benchmarks.rows import append
from neuroplastic.experiment.agent import greedy
from neuroplastic.experiment.play import Games, watch_evaluation
from neuroplastic.rules.diagnosing import diagnose
from neuroplastic.usecases.opening import open_run

DATA, PAGE = Path("docs/data/carrying.csv"), Path("docs/pixels.md")
MARKS = ("<!-- carrying: made by python -m benchmarks carrying --page -->", "<!-- end of carrying -->")
AGENTS = tuple(f"{task}{kind}" for task in ("BP", "BR", "DTC", "GH", "HTL", "TC") for kind in ("", "-dnn"))
STATES, EPISODES, SEED = 500, 40, 9003
PLAYED, PLAYED_SEED = 20, 9001
FIELDS = (
    *("agent", "states", "actions", "most_taken", "average_taken", "carry", "alone", "carry_diagnosed"),
    *("alone_diagnosed", "score", "score_centred", "command"),
)


def carrying(name: str) -> dict[str, Any]:
    """The row of an agent."""
    opened = open_run(name)
    agent = opened.agent
    policy = partial(greedy, agent)
    seen = np.stack(
        watch_evaluation(opened.config.task, policy, observations=STATES, episodes=EPISODES, seed=SEED)
    )
    with torch.no_grad():
        parts = torch.split(torch.from_numpy(seen), 64)
        advantages = torch.cat([agent.preferences(part) for part in parts])
    mean = advantages.mean(dim=0)
    taken = advantages.argmax(dim=1)
    shares = torch.bincount(taken, minlength=len(mean)) / len(taken)
    average = float(shares[mean.argmax()])
    row: dict[str, Any] = {
        "agent": name,
        "states": len(seen),
        "actions": len(mean),
        "most_taken": round(float(shares.max()), 3),
        "average_taken": round(average, 3),
        "carry": round(1 - average, 3),
        "alone": round(float(((advantages - mean).argmax(dim=1) == taken).double().mean()), 3),
        "command": f"python -m benchmarks carrying {name}",
    }
    if name.endswith("-dnn"):
        return row
    told = diagnose(agent, seen)
    row |= {"carry_diagnosed": round(told.carry, 3), "alone_diagnosed": round(told.alone, 3)}
    row |= {"score": played(opened, torch.zeros_like(mean)), "score_centred": played(opened, mean)}
    return row


def played(opened: Any, less: torch.Tensor) -> str:
    """Mean and standard error of episodes in which so much is taken from the advantages."""

    @torch.inference_mode()
    def policy(observations: np.ndarray) -> np.ndarray:
        return (opened.agent.preferences(torch.from_numpy(observations)) - less).argmax(dim=1).numpy()

    with Games(opened.config.task, games=4) as games:
        returns = [result.return_ for result in games.play(policy, PLAYED, seed=PLAYED_SEED)]
    error = statistics.stdev(returns) / PLAYED**0.5
    return f"{statistics.fmean(returns):.4g} ({error:.{0 if error >= 10 else 1}f})"


def table(path: Path) -> str:
    """Rules beside plain networks, a line for each task."""
    with path.open(newline="") as file:
        rows = {row["agent"]: row for row in csv.DictReader(file)}
    lines = [
        "| | taken most | carry | alone | plain: taken most | carry | alone | score | score, centred |",
        "|---" * 9 + "|",
    ]
    for name, row in rows.items():
        if name.endswith("-dnn"):
            continue
        plain = rows.get(f"{name}-dnn", dict.fromkeys(FIELDS, ""))
        shares = [
            f"{float(one[field]):.2f}" if one[field] else ""
            for one in (row, plain)
            for field in ("most_taken", "carry", "alone")
        ]
        lines.append(f"| {' | '.join([name, *shares, row['score'], row['score_centred']])} |")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks carrying", description=__doc__)
    parser.add_argument("agents", nargs="*", default=AGENTS)
    parser.add_argument("--file", type=Path, default=DATA)
    parser.add_argument("--page", action="store_true")
    asked = parser.parse_args(arguments)
    if asked.page:
        put_between(PAGE, MARKS, table(asked.file))
        return
    for name in asked.agents or AGENTS:
        append(asked.file, FIELDS, carrying(name))


if __name__ == "__main__":
    main(sys.argv[1:])
