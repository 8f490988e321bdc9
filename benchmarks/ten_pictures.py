"""Can play be foretold from sentences? `python -m benchmarks ten_pictures show DTC FOLDER [--seed 1]`, then `score`.

`show` writes ten numbered pictures of an agent's play that nobody has learned from, and no action; which actions were
taken lies in FOLDER/answers.json, not to be opened. Whoever has read the sentences of the agent's student and its cards
writes down ten actions, and `python -m benchmarks ten_pictures score FOLDER 2,7,1,...` tells how many are right: those
of the agent, and those of the student, and how many a guess of the commonest action would have had. States are drawn at
random; with `--evenly`, each action that the agent takes in at least 5 % of its decisions about equally often.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

PICTURES, STATES, LEAST = 10, 1500, 0.05
FIRST_EPISODE = 30_000


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks ten_pictures", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("show")
    command.add_argument("agent")
    command.add_argument("folder", type=Path)
    command.add_argument("--seed", type=int, default=1)
    command.add_argument("--evenly", action="store_true")
    command = commands.add_parser("score")
    command.add_argument("folder", type=Path)
    command.add_argument("actions", help="ten numbers of actions, with commas between")
    options = parser.parse_args(arguments)
    if options.command == "show":
        show(options.agent, options.folder, options.seed, evenly=options.evenly)
    else:
        score(options.folder, [int(action) for action in options.actions.split(",")])


def show(name: str, folder: Path, seed: int, *, evenly: bool) -> None:
    import cv2

    from neuroplastic.experiment.agent import greedy
    from neuroplastic.experiment.game import Game
    from neuroplastic.experiment.teachers import picture_of
    from neuroplastic.usecases.commenting import seen_with_words
    from neuroplastic.usecases.opening import open_run, student_of

    run = open_run(name)
    student = student_of(run)
    assert student is not None, f"{name} has no student"
    frames: list[Any] = []
    actions, words = [], []
    with Game(seen_with_words(run, student), seed=seed, stream="evaluation", film=True) as game:
        episode = FIRST_EPISODE
        while len(actions) < STATES:
            game.begin(episode)
            episode += 1
            while not game.over and len(actions) < STATES:
                frames.append(game.environment.render()[-1])
                actions.append(int(greedy(run.agent, picture_of(game)[None])[0]))
                words.append(int(greedy(student.agent, game.observation[None])[0]))
                game.act(actions[-1])
    rng = np.random.default_rng(seed)
    shares = np.bincount(actions) / len(actions)
    kinds = rng.permutation(np.flatnonzero(shares >= LEAST))
    wanted = [int(kinds[number % len(kinds)]) for number in range(PICTURES)]
    places = [int(rng.choice(np.flatnonzero(np.array(actions) == kind))) for kind in wanted]
    places = [places[number] for number in rng.permutation(PICTURES)]
    if not evenly:
        places = rng.choice(len(actions), PICTURES, replace=False).tolist()
    folder.mkdir(parents=True)
    for number, place in enumerate(places, start=1):
        cv2.imwrite(str(folder / f"{number}.png"), frames[place][..., ::-1])
    answers = {"agent": [actions[place] for place in places], "student": [words[place] for place in places]}
    answers["the commonest"] = [int(shares.argmax())] * PICTURES
    (folder / "answers.json").write_text(json.dumps(answers))
    print("\n".join(f"{number}: {action}" for number, action in enumerate(run.config.task.actions)))


def score(folder: Path, foretold: list[int]) -> None:
    answers = json.loads((folder / "answers.json").read_text())
    for who in ("agent", "student"):
        actions = answers[who]
        right = [told == done for told, done in zip(foretold, actions, strict=True)]
        print(f"{who}: {sum(right)} of {len(right)} right; it did {','.join(map(str, actions))}")
    alike = [told == done for told, done in zip(answers["the commonest"], answers["agent"], strict=True)]
    print(f"the commonest action, {answers['the commonest'][0]}, is the agent's in {sum(alike)}")


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
