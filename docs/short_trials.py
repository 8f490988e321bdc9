"""Scores runs of 5,000 steps on new episodes, and notes down what docs/short_budget.py adds: a JSON object a line.

Run: `python docs/short_trials.py RUNS --seed 9001 --episodes 100 --out rows.jsonl`, where each folder in RUNS was made
by `neuroplastic train`. Runs that are there already, scored on these episodes, are passed over.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from neuroplastic.experiment.run_folder import RunFolder
from neuroplastic.usecases.boxing import train_command
from neuroplastic.usecases.runs import evaluate_run


def finished(folder: Path) -> dict[str, Any] | None:
    """What a run did; None unless it came to its end."""
    run = RunFolder(folder)
    config, metrics = run.config(), run.metrics()
    if not metrics or metrics[-1].steps < config.protocol.steps:
        return None
    return {
        "task": config.task.key,
        "agent": config.agent,
        "seed": config.seed,
        "steps": metrics[-1].steps,
        "epochs": [one.mean for one in metrics],
        "command": train_command(config),
        "figures": metrics[-1].figures,
    }


def scored(folder: Path, *, episodes: int, seed: int) -> dict[str, Any]:
    """What the best epoch's network of a run scores on the episodes of a seed."""
    played = evaluate_run(str(folder), episodes=episodes, seed=seed, games=8)
    return {"eval_seed": seed, "returns": list(played.returns), "mean": played.mean, "sd": played.sd}


def main() -> None:
    """Score all that is finished and not yet noted down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=Path)
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--seed", type=int, default=9001)
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    lines = asked.out.read_text().splitlines() if asked.out.exists() else []
    known = {(row["command"], row["eval_seed"], len(row["returns"])) for row in map(json.loads, lines)}
    for path in sorted(asked.runs.rglob("config.json")):
        row = finished(path.parent)
        if row is None or (row["command"], asked.seed, asked.episodes) in known:
            continue
        row |= scored(path.parent, episodes=asked.episodes, seed=asked.seed)
        with asked.out.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(f"{row['command']}: {row['mean']:.2f} ({row['sd']:.2f})", flush=True)


if __name__ == "__main__":
    main()
