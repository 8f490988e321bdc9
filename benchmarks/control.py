"""Readable rules in control: `python -m benchmarks control CartPole-v1 --seeds 0 1 2 3 4 [--looks 10] [--agent dnn]`.

Trains by the preset `readable`, its decisions in `--looks` epochs (default: the preset's), and plays 100 fresh episodes
with the network of the best epoch, by training's own 20 episodes, and with the last. The diagnosis is of the best, on
the states of 20 episodes. A trial is a row of docs/data/control_best.csv. Several processes may share the work, as in
`pixel_ablation`. `--page` puts the table into docs/control.md.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import sys
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

DATA, PAGE = Path("docs/data/control_best.csv"), Path("docs/control.md")
MARKS = ("<!-- best epochs: made by python -m benchmarks control --page -->", "<!-- end of best epochs -->")
EPISODES, SEED = 100, 9001
STATES_EPISODES, STATES_SEED = 20, 9003
FIGURES = ("leading_rules", "carry", "alone", "fit", "premises", "rules_per_decision")
CHOSEN_ON = 10
"""Seeds from here on are those that settings were chosen on."""
FIELDS = (
    *("task", "agent", "seed", "decisions", "looks", "score_by_epoch", "score_best", "sd_best", "score_last"),
    *("sd_last", *FIGURES, "command"),
)


def trial(task: str, agent: str, seed: int, looks: int | None, work: Path) -> dict[str, Any]:
    """Train, play and diagnose one."""
    config = configuration(TrainRequest(task, agent, "readable", None, {"seed": str(seed)}))
    if looks is not None:
        whole = config.protocol.epochs * config.protocol.steps_per_epoch
        fields = {"seed": str(seed), "epochs": str(looks), "steps_per_epoch": str(whole // looks)}
        config = configuration(TrainRequest(task, agent, "readable", None, fields))
    with begin_run(config, runs=str(work), device="cpu") as run:
        run.run(lambda told: None)
        folder, metrics = str(run.folder.path), list(run.metrics)
    row = {
        "task": task,
        "agent": agent,
        "seed": seed,
        "decisions": metrics[-1].steps,
        "looks": len(metrics),
        "score_by_epoch": " / ".join(f"{one.mean:.2f}" for one in metrics),
        "command": f"{train_command(config)} ; neuroplastic evaluate RUN --episodes {EPISODES} --seed {SEED}",
    }
    for which in ("best", "last"):
        played = evaluate_run(folder, which=which, episodes=EPISODES, seed=SEED, games=8)
        row[f"score_{which}"] = round(played.mean, 2)
        row[f"sd_{which}"] = round(played.sd, 2)
    if agent == "nfn":
        opened = open_run(folder)
        seen = watch_evaluation(
            opened.config.task,
            partial(greedy, opened.agent),
            observations=sys.maxsize,
            episodes=STATES_EPISODES,
            seed=STATES_SEED,
        )
        told = diagnose(opened.agent, np.stack(seen))
        row |= {name: round(getattr(told, name), 3) for name in FIGURES}
    return row


def table(path: Path) -> Iterator[str]:
    """A line for each run of the reported seeds, and a mean for each kind of them."""
    with path.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if int(row["seed"]) < CHOSEN_ON]
    yield "| task | agent | seed | best epoch | last epoch | leading rules | carry | fit | premises |"
    yield "|---" * 9 + "|"
    kinds = dict.fromkeys((row["task"], row["agent"]) for row in rows)
    for task, agent in kinds:
        own = [row for row in rows if (row["task"], row["agent"]) == (task, agent)]
        for row in sorted(own, key=lambda row: int(row["seed"])):
            figures = [
                f"{float(row[name]):.{digits}f}" if row[name] else ""
                for name, digits in (("leading_rules", 1), ("carry", 2), ("fit", 2), ("premises", 1))
            ]
            scores = [f"{row[f'score_{which}']} ({row[f'sd_{which}']})" for which in ("best", "last")]
            yield f"| {' | '.join([task, _kind(agent), row['seed'], *scores, *figures])} |"
        if len(own) == 1:
            continue
        means = [f"**{_mean(own, 'score_best'):.4g}**", f"{_mean(own, 'score_last'):.4g}"]
        yield f"| {' | '.join([task, _kind(agent), 'mean', *means, '', '', '', ''])} |"


def _kind(agent: str) -> str:
    return "rules" if agent == "nfn" else "plain"


def _mean(rows: Sequence[dict[str, str]], name: str) -> float:
    return statistics.fmean(float(row[name]) for row in rows)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks control", description=__doc__)
    parser.add_argument("tasks", nargs="*", default=["CartPole-v1"])
    parser.add_argument("--agent", default="nfn")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--looks", type=int)
    parser.add_argument("--work", type=Path, default=Path("runs/control"), help="folder of the runs")
    parser.add_argument("--file", type=Path, default=DATA)
    parser.add_argument("--page", action="store_true")
    asked = parser.parse_args(arguments)
    if asked.page:
        put_between(PAGE, MARKS, "\n".join(table(asked.file)))
        return
    torch.set_num_threads(1)
    for task in asked.tasks:
        for seed in asked.seeds:
            place = asked.work / f"{task}-{asked.agent}-{seed}"
            try:
                place.mkdir(parents=True)
            except FileExistsError:
                continue
            append(asked.file, FIELDS, trial(task, asked.agent, seed, asked.looks, place))


if __name__ == "__main__":
    main(sys.argv[1:])
