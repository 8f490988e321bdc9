"""Decisions per second of the DOOM environments: against a bare loop, fast against paper, four games against one.

All contenders run in turns in one process. A turn counts if other programs took less than a tenth of a core during it:
one game leaves a core to them for nothing, four games do not, so that a busy machine would tell nothing about them.
Rounds are repeated until enough turns counted or time is up; then the least disturbed are taken, and the table says so.
Run it with `python -m benchmarks.doom_environment`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import median

import cv2
import numpy as np
import psutil
import torch

from neuroplastic import doom
from neuroplastic.doom.engine import Engine

SCENARIO = "BP"
FRAME_SKIP = 4
TURN_SECONDS = 0.6
EVALUATION_EPISODES = 12
ROUNDS = 8
LONGEST_SECONDS = 240.0
QUIET_CORES = 0.1

Turn = Callable[[], float]
"""Plays for a while; decisions per second."""


@dataclass(frozen=True)
class Sample:
    """One turn."""

    speed: float
    """Decisions per second."""
    disturbance: float
    """Cores that other programs kept busy meanwhile."""


@dataclass(frozen=True)
class Ratio:
    """How one contender compares with another."""

    name: str
    best: float
    """Best turn against best turn."""
    typical: float
    """Median of the ratios within a round."""
    disturbance: float
    """Cores that other programs kept busy, at most, in the rounds taken."""
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
            if any(env.step(decisions % 8)[2:4]):
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
                picture, _, terminated, truncated, _ = env.step(policy(picture[None])[0])
                ended = terminated or truncated
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


def sample(turn: Turn) -> Sample:
    """Take a turn, and note what other programs did meanwhile."""
    everyone, ourselves, begin = busy_seconds(), own_seconds(), time.perf_counter()
    speed = turn()
    others = busy_seconds() - everyone - (own_seconds() - ourselves)
    return Sample(speed, max(0.0, others / (time.perf_counter() - begin)))


def busy_seconds() -> float:
    times = psutil.cpu_times()
    return float(sum(times) - times.idle - getattr(times, "iowait", 0.0))


def own_seconds() -> float:
    processes = [psutil.Process(), *psutil.Process().children()]
    return float(sum(process.cpu_times().user + process.cpu_times().system for process in processes))


def compare(name: str, above: list[Sample], below: list[Sample], at_least: float) -> Ratio:
    """The ratio of two contenders over the quiet rounds, or over the three quietest."""
    rounds = sorted(zip(above, below, strict=True), key=lambda pair: disturbance(*pair))
    quiet = [pair for pair in rounds if disturbance(*pair) < QUIET_CORES]
    taken = quiet if len(quiet) >= 3 else rounds[:3]
    return Ratio(
        name,
        best=max(a.speed for a, _ in taken) / max(b.speed for _, b in taken),
        typical=median(a.speed / b.speed for a, b in taken),
        disturbance=max(disturbance(*pair) for pair in taken),
        at_least=at_least,
    )


def disturbance(*samples: Sample) -> float:
    return max(s.disturbance for s in samples)


def measure() -> Measurement:
    """Every contender in turn, until each of the three comparisons has its quiet rounds, or time is up."""
    with ExitStack() as stack:
        # One thread for the policy: its others would spin on the cores that engines need.
        stack.callback(torch.set_num_threads, torch.get_num_threads())
        torch.set_num_threads(1)
        bare, paper, fast = bare_loop(stack), environment(stack, "paper"), environment(stack, "fast")
        one, four = one_game(stack), several_games(stack, 4)
        contenders = {
            "bare loop, 640x480": bare,
            "environment, paper": paper,
            "environment, fast": fast,
            "evaluation, 1 game": one,
            "evaluation, 4 games": four,
        }
        for turn in contenders.values():
            turn()  # the first turn of each warms up
        samples: dict[str, list[Sample]] = {name: [] for name in contenders}
        deadline = time.monotonic() + LONGEST_SECONDS
        while time.monotonic() < deadline and quiet_rounds(samples) < ROUNDS:
            for name, turn in contenders.items():
                samples[name].append(sample(turn))
    return Measurement(
        {name: max(s.speed for s in taken) for name, taken in samples.items()},
        [
            compare(
                "environment / bare loop", samples["environment, paper"], samples["bare loop, 640x480"], 0.9
            ),
            compare("fast / paper", samples["environment, fast"], samples["environment, paper"], 4.0),
            compare("4 games / 1 game", samples["evaluation, 4 games"], samples["evaluation, 1 game"], 1.7),
        ],
    )


def quiet_rounds(samples: dict[str, list[Sample]]) -> int:
    return sum(disturbance(*turns) < QUIET_CORES for turns in zip(*samples.values(), strict=True))


def main() -> None:
    measured = measure()
    print(f"decisions per second ({SCENARIO}, {FRAME_SKIP} tics each, best turn)")
    for name, speed in measured.decisions_per_second.items():
        print(f"  {name:<24}{speed:8.0f}")
    print("ratios                        best  typical  at least  cores taken by others")
    for ratio in measured.ratios:
        row = f"  {ratio.name:<24}{ratio.best:8.2f}{ratio.typical:9.2f}{ratio.at_least:10.2f}"
        print(f"{row}{ratio.disturbance:23.2f}")


if __name__ == "__main__":
    main()
