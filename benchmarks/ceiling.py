"""How much of an agent's play can be told at all? `python -m benchmarks ceiling [DTC GH ...] [--states 6000]`.

An agent in the box, or any run, plays, a tenth of its actions random, and its own actions are learned from the named
attributes by a tree of 12 leaves, one of 40, and a forest of 200 trees; then by a forest that also sees the picture, in
12 x 12 grey squares; and by a tree and a forest that also know what else could be told of what is seen: how far the
player turned, what was shot and lost since the decision before, the screen's mean colours, and on each side how many
things are seen and the nearest one's degrees and distance. All are judged on states of the agent's own play, of
episodes that none of them has seen. What the forest misses, no rules over these attributes can know; what it gains by
more, the attributes lack. Every agent is a row of docs/data/ceiling.csv, known by the digest of its weights.
"""

from __future__ import annotations

import argparse
from collections import deque
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.rows import append

FILE = Path(__file__).parents[1] / "docs" / "data" / "ceiling.csv"
FIELDS = (
    *("agent", "digest", "seed", "states", "attributes", "commonest", "tree_12", "tree_40", "forest"),
    *("forest_with_picture", "tree_12_with_more", "forest_with_more"),
)
RANDOM, SQUARES, FIRST_JUDGED = 0.1, 12, 1_000_000


def main(arguments: list[str]) -> None:
    import torch
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.tree import DecisionTreeClassifier

    from benchmarks.students import digest_of

    parser = argparse.ArgumentParser(prog="python -m benchmarks ceiling", description=__doc__)
    parser.add_argument("agents", nargs="*", default=["DTC", "GH"])
    parser.add_argument("--states", type=int, default=6000, help="learned from; as many are judged by")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=FILE)
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    for agent in options.agents:
        seen, grey, more, actions = played(agent, options.states, options.seed, 0, RANDOM)
        new, new_grey, new_more, wanted = played(agent, options.states, options.seed, FIRST_JUDGED, 0.0)

        def forest() -> Any:
            return RandomForestClassifier(200, min_samples_leaf=3, random_state=options.seed)

        def agreement(model: Any, learned: Any, judged: Any, known: Any = actions, told: Any = wanted) -> str:
            return f"{(model.fit(learned, known).predict(judged) == told).mean():.4g}"

        trees = {
            f"tree_{leaves}": DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=options.seed)
            for leaves in (12, 40)
        }
        row = {
            **{"agent": agent, "digest": digest_of(agent), "seed": options.seed, "states": options.states},
            **{"attributes": seen.shape[1], "commonest": f"{np.bincount(wanted).max() / len(wanted):.4g}"},
            **{name: agreement(tree, seen, new) for name, tree in trees.items()},
            "forest": agreement(forest(), seen, new),
            "forest_with_picture": agreement(forest(), np.hstack([seen, grey]), np.hstack([new, new_grey])),
            "tree_12_with_more": agreement(
                trees["tree_12"], np.hstack([seen, more]), np.hstack([new, new_more])
            ),
            "forest_with_more": agreement(forest(), np.hstack([seen, more]), np.hstack([new, new_more])),
        }
        append(options.out, FIELDS, row)


def played(agent: str, states: int, seed: int, first: int, random: float) -> tuple[Any, Any, Any, Any]:
    """Attributes (N, D), grey squares (N, 144), more (N, E) and the agent's actions (N,), from an episode on."""
    import cv2

    from neuroplastic.experiment.demonstrating import GAMES, demonstrate
    from neuroplastic.usecases.teaching import find_teacher, student_task

    teacher, task = find_teacher(agent, student_task(agent))
    rng = np.random.default_rng(seed + first)
    last: deque[Any] = deque(maxlen=GAMES)
    also: list[Any] = []

    def look(game: Any) -> Any:
        last.append(teacher.look(game))
        also.append(more_of(game.environment._look, last[-1]))
        return last[-1]

    def wavering(_: Any) -> Any:
        """What the teacher does, or anything."""
        does = np.asarray(teacher.answer(np.stack(last))).argmax(axis=1)
        anything = rng.integers(len(task.actions), size=len(does))
        return np.where(rng.random(len(does)) < random, anything, does)

    found = demonstrate(
        task,
        replace(teacher, look=look),
        wavering if random else None,
        states=states,
        seed=seed,
        first_episode=first,
        keep_looks=True,
    )
    squares = [
        cv2.resize(
            picture.mean(axis=2).astype(np.float32), (SQUARES, SQUARES), interpolation=cv2.INTER_AREA
        ).ravel()
        for picture in np.asarray(found.pictures)
    ]
    return found.shown.attributes, np.stack(squares), np.array(also), found.shown.actions


def more_of(look: Any, picture: Any) -> list[float]:
    """What else could be told of what a player sees."""
    before = look.now if look.before is None else look.before
    turned = (look.now.facing - before.facing + 180) % 360 - 180
    lost = [look.now.ammunition - before.ammunition, look.now.health - before.health]
    sides = []
    for side in (-1, 1):
        there = [thing for thing in look.now.things if thing.degrees * side > 0]
        nearest = (there[0].degrees, there[0].distance) if there else (90.0, 1600.0)
        sides += [float(len(there)), *nearest]
    return [turned, *lost, *sides, *picture.reshape(-1, 3).mean(axis=0)]


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
