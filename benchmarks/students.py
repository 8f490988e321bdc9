"""Readable students: `python -m benchmarks students TASK[:TEACHER] ... [--seeds 0,1,2] [--rules 8] [--premises 3]`.

For each task and seed a student learns from its teacher (`scripted`, or a run or agent in the box) and is judged on 25
evaluation episodes; a decision tree of as many leaves, taught in the same way (VIPER), stands beside it. Every trial
is a row of docs/data/students.csv.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import statistics
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.rows import append
from benchmarks.students_table import table

FILE = Path(__file__).parents[1] / "docs" / "data" / "students.csv"
FIELDS = (
    *("task", "teacher", "kind", "seed", "rules", "premises", "rounds", "states", "costs", "score", "sd"),
    *("teacher_score", "agreement", "fit", "carry", "leading_rules", "rules_per_decision", "used_rules"),
    *(
        "longest_rule",
        "seconds",
        "as_good",
        "most_common",
        "rarest",
        "attributes",
        "weighted",
        "teacher_digest",
    ),
)


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks students", description=__doc__)
    parser.add_argument("tasks", nargs="*", metavar="TASK[:TEACHER]")
    parser.add_argument(
        "--table", action="store_true", help="run nothing: print the table of the rows so far"
    )
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--rules", type=int, default=8)
    parser.add_argument("--premises", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--states", type=int, default=2000)
    parser.add_argument("--no-costs", action="store_true")
    parser.add_argument("--kinds", default="rules,tree")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--out", type=Path, default=FILE)
    parser.add_argument(
        "--runs", type=Path, default=None, help="keeps the students' run folders below this one"
    )
    options = parser.parse_args(arguments)
    if options.table:
        print(table(options.out))
        return
    trials = [
        (kind, *task.partition(":")[::2], int(seed))
        for task in options.tasks
        for seed in options.seeds.split(",")
        for kind in options.kinds.split(",")
    ]
    with ProcessPoolExecutor(options.processes) as pool:
        for done in as_completed([pool.submit(trial, *each, options) for each in trials]):
            append(options.out, FIELDS, done.result())


def trial(kind: str, key: str, teacher: str, seed: int, options: argparse.Namespace) -> dict[str, Any]:
    """One student, or one tree."""
    os.environ["OMP_NUM_THREADS"] = "1"
    import torch

    from neuroplastic.learn.imitation.config import ImitationConfig
    from neuroplastic.usecases.teaching import find_teacher, student_task

    torch.set_num_threads(1)
    began = time.perf_counter()
    asked, task = find_teacher(teacher or None, student_task(key))
    config = ImitationConfig(
        rounds=options.rounds,
        states=options.states,
        max_rules=options.rules,
        max_premises=options.premises,
        costs=not options.no_costs,
    )
    row = {
        "task": key,
        "teacher": asked.name if teacher != key else f"box/{key}",
        "kind": kind,
        "seed": seed,
        "rules": options.rules,
        "premises": options.premises,
        "rounds": options.rounds,
        "states": options.states,
        "costs": int(config.costs),
        "attributes": task.observation.shape[0],
        "teacher_digest": digest_of(teacher),
    }
    taught = {"rules": partial(rules, runs=options.runs), "tree": tree}[kind]
    found = taught(task, asked, config, seed)
    shown = {name: f"{value:.4g}" for name, value in found.items()}
    return {**row, **shown, "seconds": round(time.perf_counter() - began)}


def digest_of(agent: str) -> str:
    """The first figures of the SHA-256 of an agent's weights, by which it is known; empty for a script."""
    from neuroplastic.usecases.opening import open_run

    if not agent or agent == "scripted":
        return ""
    weights = (open_run(agent).path / "best.safetensors").read_bytes()
    return hashlib.sha256(weights).hexdigest()[:12]


def rules(task: Any, teacher: Any, config: Any, seed: int, runs: Path | None) -> dict[str, float]:
    from neuroplastic.learn.imitation.rounds import best
    from neuroplastic.usecases.imitating import imitate_teacher

    with tempfile.TemporaryDirectory() as forgotten:
        below = forgotten if runs is None else str(runs / f"{task.key}-{teacher.name}")
        made = imitate_teacher(task, teacher, config, seed=seed, runs=below)
    premises = best(list(made.rounds)).student.draft.premises
    asked = (premises != -1).sum(axis=1)
    return {
        "score": made.score,
        "sd": statistics.stdev(made.returns),
        "teacher_score": made.teacher_score,
        "agreement": made.agreement,
        "as_good": made.as_good,
        "weighted": made.weighted,
        **shares(made.taken),
        "fit": made.diagnosis.fit,
        "carry": made.diagnosis.carry,
        "leading_rules": made.diagnosis.leading_rules,
        "rules_per_decision": made.diagnosis.rules_per_decision,
        "used_rules": len(made.sentences),
        "longest_rule": float(asked.max()),
    }


def shares(taken: Any) -> dict[str, float]:
    """How often the action is taken that is taken most, and least of those that are taken at all."""
    return {"most_common": max(taken), "rarest": min(share for share in taken if share > 0)}


def tree(task: Any, teacher: Any, config: Any, seed: int) -> dict[str, float]:
    """VIPER: the same rounds, with a decision tree of as many leaves in the rules' place."""
    import numpy as np
    from sklearn.tree import DecisionTreeClassifier

    from neuroplastic.experiment.demonstrating import demonstrate
    from neuroplastic.experiment.play import Games
    from neuroplastic.experiment.trial import EVALUATION_SEED
    from neuroplastic.learn.imitation.demonstrations import Demonstrations
    from neuroplastic.usecases.imitating import JUDGED_BY, JUDGING_SEED, REPORTED

    def act(model: Any, observations: Any) -> Any:
        return model.predict(observations).astype(np.int64)

    shown, best = [], (-np.inf, None)
    with Games(task, games=1, threads=False) as games:
        model = None
        for number in range(config.rounds):
            player = None if model is None else partial(act, model)
            first = number * config.states
            shown.append(
                demonstrate(task, teacher, player, states=config.states, seed=seed, first_episode=first).shown
            )
            together = Demonstrations.joined(shown)
            model = DecisionTreeClassifier(max_leaf_nodes=config.max_rules, random_state=seed).fit(
                together.attributes, together.actions, sample_weight=together.weights(costs=config.costs)
            )
            results = games.play(partial(act, model), JUDGED_BY, seed=JUDGING_SEED + seed)
            score = statistics.fmean(result.return_ for result in results)
            if score >= best[0]:
                best = (score, model)
        policy = partial(act, best[1])
        returns = [result.return_ for result in games.play(policy, 25, seed=EVALUATION_SEED)]
    played = demonstrate(task, teacher, policy, states=REPORTED, seed=EVALUATION_SEED, stream="evaluation")
    return {
        "score": statistics.fmean(returns),
        "sd": statistics.stdev(returns),
        "agreement": played.agreement,
        "as_good": played.as_good,
        "weighted": played.weighted_agreement,
        **shares(np.bincount(played.taken) / len(played.taken)),
        "used_rules": float(best[1].get_n_leaves()),
        "longest_rule": float(best[1].get_depth()),
    }


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
