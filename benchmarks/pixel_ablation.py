"""What each remedy is worth to rules that play DOOM from pixels: `python -m benchmarks pixel_ablation --seeds 0 1 2`.

The preset `long` (64 rules that conclude constants, over 64 features) with one remedy taken away at a time, and some
added. A trial is a row of docs/data/pixel_ablation.csv with its command: the score of its best epoch on 100 further
episodes, and what the diagnosis says of that network in greedy play. Several processes may share the work: a trial that
one has begun (a folder in `--work`) is left to it by the others. `--page` puts the tables into docs/pixels.md,
`--print` prints them.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.pages import put_between
from benchmarks.rows import append
from neuroplastic.experiment.agent import greedy
from neuroplastic.experiment.play import watch_evaluation
from neuroplastic.rules.diagnosing import diagnose
from neuroplastic.usecases.boxing import train_command
from neuroplastic.usecases.opening import open_run
from neuroplastic.usecases.runs import evaluate_run
from neuroplastic.usecases.training import TrainRequest, begin_run, configuration

DATA, PAGE = Path("docs/data/pixel_ablation.csv"), Path("docs/pixels.md")
MARKS = ("<!-- ablation: made by python -m benchmarks pixel_ablation --page -->", "<!-- end of ablation -->")
EPISODES, SEED = 100, 9001
# States that the diagnosis is made on, of at most so many episodes that no score was taken from.
STATES, STATES_EPISODES, STATES_SEED = 500, 40, 9003

CHOSEN_ON = 10
"""Seeds from here on are those that settings were chosen on."""
FULL = "the preset"
BP = {"epochs": "2", "steps_per_epoch": "16000", "episodes": "10"}
"""Two of its five epochs: rules with all remedies are about there by then."""
WITHOUT: dict[str, dict[str, str]] = {
    "conclusions as slow as the rest": {"learning_rate": "5e-4", "structure_rate": "1"},
    "the rest as fast as conclusions": {"structure_rate": "1"},
    "no clear start (`start 0`)": {"start": "0"},
    "noise (`estimator stge`)": {"estimator": "stge"},
    "`sum` instead of `scaled`": {"reduce": "sum"},
    "`mean` instead of `scaled`": {"reduce": "mean"},
    "`worst` instead of `scaled`": {"reduce": "worst"},
    "rules give the value too (`plain_value 0`)": {"plain_value": "0"},
    "none of these": {
        "learning_rate": "5e-4",
        "structure_rate": "1",
        "start": "0",
        "estimator": "stge",
        "reduce": "sum",
        "plain_value": "0",
    },
}
WITH: dict[str, dict[str, str]] = {
    "balance .01": {"balance": "0.01"},
    "balance .03": {"balance": "0.03"},
    "balance .1": {"balance": "0.1"},
    "rules started on data": {"sets_start": "data"},
    "limits on sets": {"sets_widest": "0.6", "sets_margin": "0.5"},
    "small noise that anneals": {"estimator": "stge", "noise": "0.3", "noise_passes": "300"},
    "1.5-entmax": {"alpha": "1.5"},
}
AFFINE: dict[str, dict[str, str]] = {
    "affine conclusions": {"consequent": "affine"},
    "affine conclusions, rate 1e-3, the rest at half of it": {
        "consequent": "affine",
        "learning_rate": "1e-3",
        "structure_rate": "0.5",
    },
}
LEVERS = {FULL: {}, **WITHOUT, **WITH, **AFFINE}
FIELDS = (
    *("task", "what", "seed", "decisions", "score_by_epoch", "score_100", "sd_100", "leading_rules", "carry"),
    *("alone", "fit", "rules_per_decision", "most_taken", "device", "seconds", "command"),
)


def trial(task: str, what: str, seed: int, work: Path, device: str) -> dict[str, Any]:
    """Train, play and diagnose one."""
    fields = {**(BP if task == "BP" else {}), **LEVERS[what], "seed": str(seed), "processes": "0"}
    config = configuration(TrainRequest(task, "nfn", "long", None, fields))
    began = time.monotonic()
    with begin_run(config, runs=str(work), device=device) as run:
        run.run(lambda told: None)
        folder, metrics = run.folder.path, list(run.metrics)
    seconds = time.monotonic() - began
    played = evaluate_run(str(folder), episodes=EPISODES, seed=SEED, games=8, device=device)
    agent = open_run(str(folder)).agent
    seen = np.stack(
        watch_evaluation(
            config.task,
            partial(greedy, agent),
            observations=STATES,
            episodes=STATES_EPISODES,
            seed=STATES_SEED,
        )
    )
    told = diagnose(agent, seen)
    with torch.no_grad():
        parts = torch.split(torch.from_numpy(seen), 64)
        taken = torch.cat([agent.preferences(part).argmax(dim=1) for part in parts])
    command = f"{train_command(config)} ; neuroplastic evaluate RUN --episodes {EPISODES} --seed {SEED}"
    return {
        "task": task,
        "what": what,
        "seed": seed,
        "decisions": metrics[-1].steps,
        "score_by_epoch": " / ".join(f"{one.mean:.2f}" for one in metrics),
        "score_100": round(played.mean, 3),
        "sd_100": round(played.sd, 3),
        "leading_rules": round(told.leading_rules, 2),
        "carry": round(told.carry, 3),
        "alone": round(told.alone, 3),
        "fit": round(told.fit, 3),
        "rules_per_decision": round(told.rules_per_decision, 1),
        "most_taken": round(float(torch.bincount(taken).max()) / len(taken), 3),
        "device": device,
        "seconds": round(seconds),
        "command": command,
    }


def read(path: Path) -> list[dict[str, str]]:
    """The rows of a file."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def table(rows: Sequence[dict[str, str]], task: str) -> Iterator[str]:
    """A line for each remedy, a column for each seed."""
    rows = [row for row in rows if row["task"] == task and int(row["seed"]) < CHOSEN_ON]
    seeds = sorted({int(row["seed"]) for row in rows})
    titles = [f"seed {seed}" for seed in seeds]
    yield f"| {' | '.join([task, *titles, 'mean', 'after an epoch', 'leading rules', 'carry', 'alone'])} |"
    yield "|---" * (len(seeds) + 6) + "|"
    for what in LEVERS:
        own = {int(row["seed"]): row for row in rows if row["what"] == what}
        if not own:
            continue
        scores = [f"{float(own[s]['score_100']):.4g}" if s in own else "" for s in seeds]
        mean = statistics.fmean(float(row["score_100"]) for row in own.values())
        first = ", ".join(f"{float(own[s]['score_by_epoch'].split(' / ')[0]):.3g}" for s in seeds if s in own)
        told = [
            ", ".join(f"{float(own[s][name]):.{digits}f}" for s in seeds if s in own)
            for name, digits in (("leading_rules", 1), ("carry", 2), ("alone", 2))
        ]
        yield f"| {what} | {' | '.join(scores)} | **{mean:.4g}** | {first} | {' | '.join(told)} |"


def tables(path: Path) -> str:
    """The tables of all tasks."""
    rows = read(path)
    tasks = dict.fromkeys(row["task"] for row in rows if int(row["seed"]) < CHOSEN_ON)
    return "\n\n".join("\n".join(table(rows, task)) for task in tasks)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks pixel_ablation", description=__doc__)
    parser.add_argument("--task", default="BP")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--only", nargs="+", default=list(LEVERS), help=f"of {', '.join(LEVERS)}")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--work", type=Path, default=Path("runs/pixel_ablation"), help="folder of the runs")
    parser.add_argument("--file", type=Path, default=DATA)
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no trial after this time")
    parser.add_argument("--print", action="store_true", dest="only_print")
    parser.add_argument("--page", action="store_true")
    asked = parser.parse_args(arguments)
    if asked.page:
        put_between(PAGE, MARKS, tables(asked.file))
    elif asked.only_print:
        print(tables(asked.file))
    else:
        torch.set_num_threads(1)
        _all(asked)


def _all(asked: argparse.Namespace) -> None:
    """Every trial that nobody has begun."""
    start = time.monotonic()
    for seed in asked.seeds:
        for what in asked.only:
            place = asked.work / f"{asked.task}-{list(LEVERS).index(what)}-{seed}"
            if time.monotonic() - start > asked.seconds:
                return
            try:
                place.mkdir(parents=True)
            except FileExistsError:
                continue
            append(asked.file, FIELDS, trial(asked.task, what, seed, place, asked.device))


if __name__ == "__main__":
    main(sys.argv[1:])
