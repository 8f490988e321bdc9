"""Decisions per second of the DOOM environments: against a bare loop, fast against paper, four games against one.

All contenders run in turns in one process, so that a busy machine slows all of them alike; each is judged by its best
turn. Run it with `python -m benchmarks.doom_environment`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import median

import cv2
import numpy as np
import torch

from neuroplastic import doom
from neuroplastic.doom.engine import Engine

SCENARIO = "BP"
FRAME_SKIP = 4
TURNS = 8
TURN_SECONDS = 0.6
EVALUATION_EPISODES = 25

Turn = Callable[[], float]
"""Plays for a while; decisions per second."""


@dataclass(frozen=True)
class Ratio:
    """How one contender compares with another."""

    name: str
    best: float
    """Best turn against best turn."""
    typical: float
    """Median of the ratios of neighbouring turns."""
    at_least: float
    """What the project asks for."""


@dataclass(frozen=True)
class Measurement:
    """Decisions per second by contender, best turn, and the ratios asked for."""

    decisions_per_second: dict[str, float]
    ratios: list[Ratio]


def small_network() -> Callable[[np.ndarray], np.ndarray]:
    """A policy of modest cost: the paper's four convolutions and a linear read-out, with fixed random weights."""
    torch.manual_seed(0)
    shapes = ((3, 8, 3, 2), (8, 8, 3, 2), (8, 8, 5, 1), (8, 16, 7, 1))
    layers: list[torch.nn.Module] = []
    for channels_in, channels_out, kernel, stride in shapes:
        layers += [torch.nn.Conv2d(channels_in, channels_out, kernel, stride, bias=False), torch.nn.ReLU()]
    network = torch.nn.Sequential(*layers, torch.nn.Flatten(), torch.nn.Linear(1600, 8)).eval()

    def policy(pictures: np.ndarray) -> np.ndarray:
        with torch.inference_mode():
            values = network(torch.from_numpy(pictures).permute(0, 3, 1, 2).float() / 255)
            return (
                (values * 1e4).long().sum(1).remainder(8).numpy()
            )  # varied, so that games take their usual course

    return policy


def bare_loop(stack: ExitStack) -> Turn:
    """What a user would write by hand: make_action, read, cv2. The engine is ours only so that it ends with us."""
    engine = Engine(doom.scenario(SCENARIO), "paper")
    stack.callback(engine.close)
    game = engine._game
    presses = [[float(action >> i & 1) for i in range(3)] for action in range(8)]

    def turn() -> float:
        decisions = 0
        begin = time.perf_counter()
        while time.perf_counter() - begin < TURN_SECONDS:
            game.make_action(presses[decisions % 8], FRAME_SKIP)
            if game.is_episode_finished():
                game.new_episode()
            frame = game.get_state().screen_buffer
            cv2.resize(frame, (84, 84), interpolation=cv2.INTER_AREA)
            decisions += 1
        return decisions / (time.perf_counter() - begin)

    return turn


def environment(stack: ExitStack, picture: doom.Picture) -> Turn:
    """The same actions through the environment."""
    env = doom.make(SCENARIO, picture=picture, frame_skip=FRAME_SKIP)
    stack.callback(env.close)
    env.reset()

    def turn() -> float:
        decisions = 0
        begin = time.perf_counter()
        while time.perf_counter() - begin < TURN_SECONDS:
            if env.step(decisions % 8)[2]:
                env.reset()
            decisions += 1
        return decisions / (time.perf_counter() - begin)

    return turn


def one_game(stack: ExitStack) -> Turn:
    """Evaluation as a plain loop over one environment, with the policy."""
    env = doom.make(SCENARIO, frame_skip=FRAME_SKIP)
    stack.callback(env.close)
    policy = small_network()

    def turn() -> float:
        decisions = 0
        begin = time.perf_counter()
        for episode in range(EVALUATION_EPISODES):
            picture, _ = env.reset(options={"episode": episode})
            ended = False
            while not ended:
                picture, _, ended, _, _ = env.step(policy(picture[None])[0])
                decisions += 1
        return decisions / (time.perf_counter() - begin)

    return turn


def several_games(stack: ExitStack, games: int) -> Turn:
    """Evaluation with `Games`, with the policy; the last games, that run out of company, included."""
    opened = stack.enter_context(doom.Games(SCENARIO, games=games, frame_skip=FRAME_SKIP))
    policy = small_network()

    def turn() -> float:
        begin = time.perf_counter()
        results = opened.play(policy, EVALUATION_EPISODES)
        return sum(result.steps for result in results) / (time.perf_counter() - begin)

    return turn


def measure(turns: int = TURNS) -> Measurement:
    """Every contender `turns` times, in turn."""
    with ExitStack() as stack:
        # One thread for the policy: its others would spin on the cores that engines need.
        stack.callback(torch.set_num_threads, torch.get_num_threads())
        torch.set_num_threads(1)
        contenders = {
            "bare loop, 640x480": bare_loop(stack),
            "environment, paper": environment(stack, "paper"),
            "environment, fast": environment(stack, "fast"),
            "evaluation, 1 game": one_game(stack),
            "evaluation, 4 games": several_games(stack, 4),
        }
        for turn in contenders.values():
            turn()  # the first turn of each warms up
        speeds: dict[str, list[float]] = {name: [] for name in contenders}
        for _ in range(turns):
            for name, turn in contenders.items():
                speeds[name].append(turn())

    def ratio(name: str, above: str, below: str, at_least: float) -> Ratio:
        typical = median(a / b for a, b in zip(speeds[above], speeds[below], strict=True))
        return Ratio(name, max(speeds[above]) / max(speeds[below]), typical, at_least)

    return Measurement(
        {name: max(values) for name, values in speeds.items()},
        [
            ratio("environment / bare loop", "environment, paper", "bare loop, 640x480", 0.9),
            ratio("fast / paper", "environment, fast", "environment, paper", 4.0),
            ratio("4 games / 1 game", "evaluation, 4 games", "evaluation, 1 game", 1.7),
        ],
    )


def main() -> None:
    measured = measure()
    print(f"decisions per second ({SCENARIO}, {FRAME_SKIP} tics each, best of {TURNS} turns)")
    for name, speed in measured.decisions_per_second.items():
        print(f"  {name:<24}{speed:8.0f}")
    print("ratios                        best  typical  at least")
    for ratio in measured.ratios:
        print(f"  {ratio.name:<24}{ratio.best:8.2f}{ratio.typical:9.2f}{ratio.at_least:10.2f}")


if __name__ == "__main__":
    main()
