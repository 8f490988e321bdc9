"""Learning from recordings and from teachers on small tasks: `python -m benchmarks cloning [--seeds 0,1]`.

For CartPole and Acrobot a simple controller, half of whose actions are random, is recorded; cloning, conservative and
implicit Q-learning learn from that alone, and beside them d3rlpy's cloning and conservative Q-learning, where it is
installed (`pip install --no-deps d3rlpy`: it must not bring another torch), with as many updates, the same batches and
rate. Then a student of 12 rules of 4 premises learns from the controller. Trials are rows of docs/data/cloning.csv.
"""

from __future__ import annotations

import argparse
import importlib.util
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.rows import append

FILE = Path(__file__).parents[1] / "docs" / "data" / "cloning.csv"
FIELDS = (
    "task",
    "library",
    "method",
    "agent",
    "seed",
    "recorded",
    "updates",
    "score",
    "sd",
    "agreement",
    "seconds",
    "episodes",
)
# Task, the controller, episodes of its recording, and updates.
TASKS = {
    "CartPole-v1": ("benchmarks.cloning:balance", 40, 1000),
    "Acrobot-v1": ("benchmarks.cloning:swing", 60, 2000),
}
METHODS = ("cql", "cloning", "iql")
RANDOM, BATCH, RATE, EPISODES = 0.5, 256, 1e-3, 20


def balance(observations: Any) -> Any:
    """CartPole: push where the pole falls to."""
    return (np.asarray(observations) @ [0.0, 0.1, 3.0, 1.0] > 0).astype(np.int64)


def swing(observations: Any) -> Any:
    """Acrobot: torque with the second joint's velocity."""
    return np.where(np.asarray(observations)[:, 5] > 0, 2, 0).astype(np.int64)


def main(arguments: list[str]) -> None:
    import torch

    parser = argparse.ArgumentParser(prog="python -m benchmarks cloning", description=__doc__)
    parser.add_argument("--tasks", default=",".join(TASKS))
    parser.add_argument("--seeds", default="0,1")
    parser.add_argument("--kinds", default="ours,d3rlpy,student")
    parser.add_argument("--methods", default=",".join(METHODS), help="cql, cloning, and of ours iql")
    parser.add_argument("--episodes", type=int, default=EPISODES, help="by which each is judged")
    parser.add_argument("--out", type=Path, default=FILE)
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    for task in options.tasks.split(","):
        with tempfile.TemporaryDirectory() as folder:
            recorded = record(task, f"{folder}/data")
            for seed in map(int, options.seeds.split(",")):
                for kind in options.kinds.split(","):
                    rows = {"ours": ours, "d3rlpy": theirs, "student": student}[kind]
                    for row in rows(task, folder, seed, options.methods.split(","), options.episodes):
                        known = {"task": task, "seed": seed, "recorded": recorded}
                        append(options.out, FIELDS, {**known, "episodes": options.episodes, **row})


def record(task: str, out: str) -> str:
    from neuroplastic.usecases.offline import PlayRequest, record_to_file

    player, episodes, _ = TASKS[task]
    made = record_to_file(PlayRequest(player, out, task, episodes, random_share=RANDOM))
    return f"{made.mean_score:.4g}"


def ours(task: str, folder: str, seed: int, methods: list[str], episodes: int) -> Any:
    from neuroplastic.usecases.offline import begin_offline, offline_configuration

    updates = TASKS[task][2]
    agents = [(method, "dnn") for method in METHODS if method in methods]
    for method, agent in [*agents, *([("cql", "nfn")] if "cql" in methods else [])]:
        began = time.perf_counter()
        fields = {"epochs": "1", "steps_per_epoch": str(updates), "episodes": str(episodes)}
        fields |= {"batch_size": str(BATCH), "learning_rate": str(RATE)} if agent == "dnn" else {}
        config = offline_configuration(
            task, f"{folder}/data", agent=agent, method=method, fields=fields, seed=seed
        )
        made = begin_offline(config, runs=f"{folder}/runs").run().last
        yield {
            **{"library": "neuroplastic", "method": method, "agent": agent, "updates": updates},
            **{
                "score": f"{made.mean:.4g}",
                "sd": f"{made.sd:.4g}",
                "seconds": round(time.perf_counter() - began),
            },
        }


def theirs(task: str, folder: str, seed: int, methods: list[str], episodes: int) -> Any:
    if importlib.util.find_spec("d3rlpy") is None:
        print("d3rlpy is not installed: pip install --no-deps d3rlpy")
        return
    import d3rlpy

    from neuroplastic.gym.recordings import read_recording

    d3rlpy.seed(seed)
    moves = [
        (e.observations[:-1].astype(np.float32), e.actions, e.rewards, e.terminated)
        for e in read_recording(f"{folder}/data").episodes
    ]
    ends = [np.arange(len(actions)) == len(actions) - 1 for _, actions, _, _ in moves]
    data = d3rlpy.dataset.MDPDataset(
        observations=np.concatenate([seen for seen, *_ in moves]),
        actions=np.concatenate([actions for _, actions, _, _ in moves]),
        rewards=np.concatenate([rewards for _, _, rewards, _ in moves]),
        terminals=np.concatenate([end & over for end, (*_, over) in zip(ends, moves, strict=True)]).astype(
            float
        ),
        timeouts=np.concatenate(
            [end & (not over) for end, (*_, over) in zip(ends, moves, strict=True)]
        ).astype(float),
    )
    algorithms = {"cql": d3rlpy.algos.DiscreteCQLConfig, "cloning": d3rlpy.algos.DiscreteBCConfig}
    for method, made in algorithms.items():
        if method not in methods:
            continue
        began = time.perf_counter()
        algorithm = made(learning_rate=RATE, batch_size=BATCH).create(device="cpu:0")
        updates = TASKS[task][2]
        algorithm.fit(
            data,
            n_steps=updates,
            n_steps_per_epoch=updates,
            logger_adapter=d3rlpy.logging.NoopAdapterFactory(),
            show_progress=False,
        )
        returns = played(task, algorithm.predict, episodes)
        yield {
            **{
                "library": f"d3rlpy {d3rlpy.__version__}",
                "method": method,
                "agent": "dnn",
                "updates": updates,
            },
            **{"score": f"{np.mean(returns):.4g}", "sd": f"{np.std(returns, ddof=1):.4g}"},
            "seconds": round(time.perf_counter() - began),
        }


def student(task: str, folder: str, seed: int, _: list[str], episodes: int) -> Any:
    import statistics

    from neuroplastic.learn.imitation.config import ImitationConfig
    from neuroplastic.usecases.imitating import imitate_teacher
    from neuroplastic.usecases.teaching import find_teacher, student_task

    began = time.perf_counter()
    teacher, what = find_teacher(TASKS[task][0], student_task(task))
    config = ImitationConfig(max_rules=12, max_premises=4)
    made = imitate_teacher(what, teacher, config, episodes=episodes, seed=seed, runs=f"{folder}/students")
    yield {
        **{"library": "neuroplastic", "method": "student", "agent": f"{len(made.sentences)} rules"},
        **{"score": f"{made.score:.4g}", "sd": f"{statistics.stdev(made.returns):.4g}"},
        **{"agreement": f"{made.agreement:.4g}", "seconds": round(time.perf_counter() - began)},
        "recorded": f"{made.teacher_score:.4g}",
    }


def played(task: str, policy: Any, episodes: int) -> list[float]:
    """Returns of the evaluation episodes."""
    from neuroplastic.experiment.play import Games
    from neuroplastic.experiment.tasks import find_task
    from neuroplastic.experiment.trial import EVALUATION_SEED

    with Games(find_task(task), games=1, threads=False) as games:
        results = games.play(
            lambda seen: policy(np.asarray(seen)).astype(np.int64), episodes, seed=EVALUATION_SEED
        )
    return [result.return_ for result in results]


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
