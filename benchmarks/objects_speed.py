"""Decisions a second with named attributes beside pictures: `python -m benchmarks objects_speed [BP DTC ...]`.

Both environments take turns in one process, with the same actions; the ratio is the median over rounds, so that other
programs disturb both alike. Every scenario is a row of docs/data/objects_speed.csv.
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path
from statistics import median
from typing import Any

FILE = Path(__file__).parents[1] / "docs" / "data" / "objects_speed.csv"
FIELDS = ("task", "rounds", "decisions", "pictures_per_second", "objects_per_second", "ratio")


def main(arguments: list[str]) -> None:
    from neuroplastic import doom

    parser = argparse.ArgumentParser(prog="python -m benchmarks objects_speed", description=__doc__)
    parser.add_argument("tasks", nargs="*", default=list(doom.SCENARIOS))
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--decisions", type=int, default=200, help="of a turn")
    parser.add_argument("--out", type=Path, default=FILE)
    options = parser.parse_args(arguments)
    with options.out.open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(FIELDS)
        for key in options.tasks:
            both = [
                doom.make(key, observe=observe, picture="fast", seed=1) for observe in ("pictures", "objects")
            ]
            for env in both:
                turn(env, 20)
            speeds = [[turn(env, options.decisions) for env in both] for _ in range(options.rounds)]
            for env in both:
                env.close()
            ratio = median(objects / pictures for pictures, objects in speeds)
            row = [
                key,
                options.rounds,
                options.decisions,
                *(f"{median(each):.0f}" for each in zip(*speeds, strict=True)),
            ]
            rows.writerow([*row, f"{ratio:.2f}"])
            file.flush()
            print(*row, f"{ratio:.2f}", flush=True)


def turn(env: Any, decisions: int) -> float:
    """Plays from the first episode, turning and shooting; decisions a second, resets included."""
    began = time.perf_counter()
    env.reset(options={"episode": 0})
    for number in range(decisions):
        _, _, terminated, truncated, _ = env.step(number % env.action_space.n)
        if terminated or truncated:
            env.reset()
    return decisions / (time.perf_counter() - began)


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
