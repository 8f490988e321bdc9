"""Decisions per second of many games at once, against as many bare engine loops: `python -m benchmarks.parallel_games`.

A bare loop is an engine in a process of its own that holds random buttons for 4 tics and reads the picture. An arena of
the same number of workers plays 32 games with random actions; a learner's whole loop (acting, learning) beside it.
Each figure is the best of some turns that the contenders take one after the other.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
from typing import Any

import numpy as np
import torch

from neuroplastic.doom.engine import Engine
from neuroplastic.doom.environment import button_presses
from neuroplastic.doom.pictures import SIDE
from neuroplastic.doom.presets import preset
from neuroplastic.doom.scenarios import scenario
from neuroplastic.doom.task import DoomTask
from neuroplastic.experiment.agent import build_agent
from neuroplastic.experiment.arena import Arena
from neuroplastic.experiment.options import with_values
from neuroplastic.experiment.trainer import Trainer
from neuroplastic.learn.experience import Setting
from neuroplastic.learn.seeding import RandomStreams

SCENARIO = "DTC"
GAMES = 32
SECONDS = 3.0


def _bare_loop(seed: int, ready: Any, go: Any, counts: Any) -> None:
    game = scenario(SCENARIO)
    presses, engine = button_presses(game), Engine(game, "fast")
    picture = np.empty((SIDE, SIDE, 3), np.uint8)
    generator = np.random.default_rng(seed)
    episode, count = seed, 0
    engine.begin(episode)
    ready.release()
    go.wait()
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        engine.act(presses[generator.integers(len(presses))], 4)
        if engine.finished:
            episode += 1000
            engine.begin(episode)
        engine.read(picture)
        count += 1
    engine.close()
    counts.put(count)


def bare_speed(workers: int) -> float:
    """Decisions per second of so many loops, each in a process."""
    context = multiprocessing.get_context("spawn")
    ready, go, counts = context.Semaphore(0), context.Event(), context.Queue()
    loops = [context.Process(target=_bare_loop, args=(k, ready, go, counts)) for k in range(workers)]
    for loop in loops:
        loop.start()
    for _ in loops:
        ready.acquire()
    go.set()
    total = sum(counts.get() for _ in loops)
    for loop in loops:
        loop.join()
    return total / SECONDS


def arena_speed(workers: int) -> float:
    """Decisions per second of an arena under random actions."""
    task = DoomTask(SCENARIO, "fast", 4)
    generator = np.random.default_rng(0)
    with Arena(task, games=GAMES, processes=workers) as arena:
        arena.begin()
        for _ in range(3):
            arena.step(generator.integers(len(task.actions), size=GAMES))
        began, steps = time.monotonic(), 0
        while time.monotonic() - began < SECONDS:
            arena.step(generator.integers(len(task.actions), size=GAMES))
            steps += GAMES
        return steps / (time.monotonic() - began)


def learning_speeds(
    workers: int, agent: str, device: str, *, runs: int = 1, overlap: bool = False
) -> list[float]:
    """Decisions per second of acting and learning in such an arena, by run."""
    config = with_values(preset("tuned", SCENARIO, agent, "parallel_q"), {"overlap": overlap})
    streams = RandomStreams(0)
    task = config.task
    setting = Setting(len(task.actions), streams, 10**6, torch.device(device), task.mirrored_actions)
    learner = config.learner.build(build_agent(config), setting)
    with Arena(config.task, games=learner.games, processes=workers, spares=device != "cpu") as arena:
        trainer = Trainer(arena, learner)
        while trainer.steps < 3 * 32 * learner.games:  # three rollouts and their updates
            trainer.step(rounds=32)
        return [_speed(trainer, learner.games, device) for _ in range(runs)]


def _speed(trainer: Trainer, games: int, device: str) -> float:
    began, first = time.monotonic(), trainer.steps
    while time.monotonic() - began < SECONDS or (trainer.steps - first) % (32 * games):
        trainer.step(rounds=32)
    if device != "cpu":
        torch.cuda.synchronize()
    return (trainer.steps - first) / (time.monotonic() - began)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--workers", type=int, nargs="+", default=sorted({1, 2, os.cpu_count() or 1}))
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options = parser.parse_args()
    print(
        f"{SCENARIO}, fast picture, a decision every 4 tics, {GAMES} games; decisions per second, best of turns"
    )
    print("| workers | bare loops | arena | ratio | learning, DNN | learning, NFN |")
    print("|---|---|---|---|---|---|")
    for workers in options.workers:
        turns = [(bare_speed(workers), arena_speed(workers)) for _ in range(options.turns)]
        bare, arena = (max(turn[k] for turn in turns) for k in (0, 1))
        learning = [max(learning_speeds(workers, agent, options.device, runs=2)) for agent in ("dnn", "nfn")]
        print(
            f"| {workers} | {bare:.0f} | {arena:.0f} | {arena / bare:.2f} | {learning[0]:.0f} | {learning[1]:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
