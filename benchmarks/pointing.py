"""Do heat maps hit? `python -m benchmarks pointing RUN ... [--states 300] [--seed 9001]`.

In states of greedy play in which something is drawn that matters (a monster; in GH a medikit), does the hottest square
touch it? The engine's labels are the truth. Every method is a row of docs/data/pointing.csv.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

FILE = Path(__file__).parents[1] / "docs" / "data" / "pointing.csv"
MATTERS = ("Monster", "Health")
EVERY = 5  # one in so many decisions is looked at


def states(run: Any, count: int, seed: int) -> tuple[list[tuple[Any, list[Any]]], Any]:
    """Numbers of pictures with the boxes (top, left, bottom, right) of what matters, nearest first; all pictures."""
    from neuroplastic.doom import make
    from neuroplastic.experiment.agent import greedy

    task = run.config.task
    env = make(
        task.key,
        picture=task.picture,
        frame_skip=task.frame_skip,
        seed=seed,
        stream="evaluation",
        observe="both",
    )
    found: list[Any] = []
    pictures: list[Any] = []
    while len(found) < count:
        seen, _ = env.reset()
        over, number = False, 0
        while not over and len(found) < count:
            pictures.append(seen["picture"])
            if number % EVERY == 0:
                boxes = list(drawn(env._engine._game.get_state(), seen["picture"].shape))
                if boxes:
                    found.append((len(pictures) - 1, boxes))
            action = int(greedy(run.agent, seen["picture"][None])[0])
            seen, _, terminated, truncated, _ = env.step(action)
            over, number = terminated or truncated, number + 1
    env.close()
    return found, np.stack(pictures)


def drawn(state: Any, shape: tuple[int, ...]) -> Iterator[tuple[float, ...]]:
    high, wide = shape[0] / state.screen_buffer.shape[0], shape[1] / state.screen_buffer.shape[1]
    x, y = state.game_variables[2:4]
    labels = [label for label in state.labels if label.object_category in MATTERS]
    labels.sort(key=lambda each: (each.object_position_x - x) ** 2 + (each.object_position_y - y) ** 2)
    for label in labels:
        top, left = label.y * high, label.x * wide
        yield top, left, top + label.height * high, left + label.width * wide


def touches(square: tuple[int, ...] | None, box: tuple[float, ...]) -> bool:
    if square is None:
        return False
    return square[0] < box[2] and square[2] > box[0] and square[1] < box[3] and square[3] > box[1]


def main(arguments: list[str]) -> None:
    import torch

    from neuroplastic.experiment.decision import SURE, decision
    from neuroplastic.rules.explanations.hiding import usual_picture
    from neuroplastic.rules.explanations.regions import METHODS
    from neuroplastic.usecases.opening import open_run

    parser = argparse.ArgumentParser(prog="python -m benchmarks pointing", description=__doc__)
    parser.add_argument("runs", nargs="+")
    parser.add_argument("--states", type=int, default=300)
    parser.add_argument("--seed", type=int, default=9001)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--out", type=Path, default=FILE)
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    new = not options.out.exists()
    with options.out.open("a", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        if new:
            rows.writerow(
                [
                    "task",
                    "run",
                    "method",
                    "states",
                    "seed",
                    "any",
                    "nearest",
                    "sure_share",
                    "any_where_sure",
                    "seconds_each",
                ]
            )
        for name in options.runs:
            run = open_run(name)
            cases, pictures = states(run, options.states, options.seed)
            area = (
                np.mean([sum((b - t) * (r - lft) for t, lft, b, r in boxes) for _, boxes in cases])
                / pictures[0, ..., 0].size
            )
            print(
                f"{name}: {len(cases)} states, what matters covers {100 * area:.1f} % of the picture",
                flush=True,
            )
            for method in options.methods.split(","):
                began = time.perf_counter()
                made = [
                    decision(
                        run.config, run.agent, pictures[n], method=method, usual=usual_picture(pictures, n)
                    )
                    for n, _ in cases
                ]
                each = (time.perf_counter() - began) / len(cases)
                any_hit = np.array(
                    [
                        any(touches(e.region(), b) for b in boxes)
                        for e, (_, boxes) in zip(made, cases, strict=True)
                    ]
                )
                nearest = [touches(e.region(), boxes[0]) for e, (_, boxes) in zip(made, cases, strict=True)]
                sure = np.array([e.hidden is not None and e.hidden.ahead >= SURE for e in made])
                where_sure = f"{any_hit[sure].mean():.3f}" if sure.any() else ""
                row = [
                    run.config.task.key,
                    Path(name).name,
                    method,
                    len(cases),
                    options.seed,
                    f"{any_hit.mean():.3f}",
                ]
                row += [f"{np.mean(nearest):.3f}", f"{sure.mean():.3f}", where_sure, f"{each:.3f}"]
                rows.writerow(row)
                file.flush()
                print(*row, flush=True)


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
