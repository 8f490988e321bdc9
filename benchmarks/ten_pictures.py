"""Can play be foretold from sentences? `python -m benchmarks ten_pictures show DTC FOLDER [--seed 1]`, then `score`.

`show` writes into FOLDER what a newcomer needs: READ_ME.txt, the sentences of the agent's student,
the agent's cards, and ten numbered pictures of play that nobody has learned from, with a scale of degrees below them.
What the agent does there lies in FOLDER.answers.json (`--answers FILE`), not to be opened before ten actions are
written down. `python -m benchmarks ten_pictures score FOLDER.answers.json 2,7,1,...` tells how many are right: those
of the agent, and those of the student, and how many a guess of the commonest action would have had. States are drawn at
random; with `--evenly`, each action that the agent takes in at least 5 % of its decisions about equally often.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any

import numpy as np

PICTURES, STATES, LEAST = 10, 1500, 0.05
FIRST_EPISODE = 30_000
HALF_VIEW, MARKS = 45, (-40, -30, -20, -10, 0, 10, 20, 30, 40)  # degrees
WIDE, AWAY = 40, (100, 200, 400, 800)  # units: of the bars, and how far away something so wide looks as wide
STRIP = 96  # pixels

HELP = """\
What will the agent do? Ten pictures, 1.png to 10.png, each a moment of its play of {title}.

For each picture, write down the number of the action that you think it takes next:
{actions}

Go by sentences.txt: rules that a student learned from the agent. They are compared by their worst premise, and the one
that fits best decides; how often each does is written behind it. cards.html shows the agent's own rules in pictures.

Below each picture: degrees to the left (negative) and right of the middle, which the line marks, and how wide something
of {wide} units looks that is so many units away. Of what the sentences speak of: {sizes}
Ammunition is the number at the left of the status bar, health the one with the %.

Give the ten numbers, with commas between, to: python -m benchmarks ten_pictures score ANSWERS 2,7,1,...
"""
SIZES = {
    # Means of what is drawn of them in 4,000 states of play.
    "DTC": "a marine (a man with a chainsaw) looks about 33 units wide, a demon (a beast) about 41.",
    "GH": "a medikit is about 28 wide. How much room is ahead is told by the wall in the middle of the picture.",
}


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks ten_pictures", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("show")
    command.add_argument("agent")
    command.add_argument("folder", type=Path)
    command.add_argument("--seed", type=int, default=1)
    command.add_argument("--answers", type=Path, default=None, help="default: FOLDER.answers.json")
    command.add_argument("--evenly", action="store_true")
    command = commands.add_parser("score")
    command.add_argument("answers", type=Path)
    command.add_argument("actions", help="ten numbers of actions, with commas between")
    options = parser.parse_args(arguments)
    if options.command == "show":
        answers = options.answers or options.folder.with_name(f"{options.folder.name}.answers.json")
        show(options.agent, options.folder, answers, options.seed, evenly=options.evenly)
    else:
        score(options.answers, [int(action) for action in options.actions.split(",")])


def show(name: str, folder: Path, answers: Path, seed: int, *, evenly: bool) -> None:
    import cv2

    from neuroplastic.experiment.agent import greedy
    from neuroplastic.experiment.decision import sentences
    from neuroplastic.experiment.game import Game
    from neuroplastic.experiment.teachers import picture_of
    from neuroplastic.usecases.agent_cards import agent_cards
    from neuroplastic.usecases.card_pages import cards_page
    from neuroplastic.usecases.commenting import seen_with_words
    from neuroplastic.usecases.opening import open_run, student_of

    run = open_run(name)
    student = student_of(run)
    assert student is not None, f"{name} has no student"
    frames: list[Any] = []
    actions, words, seen = [], [], []
    with Game(seen_with_words(run, student), seed=seed, stream="evaluation", film=True) as game:
        episode = FIRST_EPISODE
        while len(actions) < STATES:
            game.begin(episode)
            episode += 1
            while not game.over and len(actions) < STATES:
                frames.append(game.environment.render()[-1])
                actions.append(int(greedy(run.agent, picture_of(game)[None])[0]))
                seen.append(game.observation.copy())
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
        cv2.imwrite(str(folder / f"{number}.png"), with_scale(frames[place])[..., ::-1])
    task = run.config.task
    names = "\n".join(f"  {number}: {action}" for number, action in enumerate(task.actions))
    sizes = SIZES.get(task.key, "see docs/students.md.")
    (folder / "READ_ME.txt").write_text(HELP.format(title=task.title, actions=names, wide=WIDE, sizes=sizes))
    told = sentences(student.config, student.agent, np.stack(seen))
    (folder / "sentences.txt").write_text("\n\n".join(told) + "\n")
    (folder / "cards.html").write_text(cards_page(agent_cards(run)))
    kept = {"agent": [actions[place] for place in places], "student": [words[place] for place in places]}
    kept["the commonest"] = [int(shares.argmax())] * PICTURES
    answers.parent.mkdir(parents=True, exist_ok=True)
    answers.write_text(json.dumps(kept))
    print(f"{folder}: begin with READ_ME.txt; the answers lie in {answers}")


def with_scale(frame: Any) -> Any:
    """A frame with a line down its middle, and below it degrees and how wide things look."""
    import cv2

    height, width = frame.shape[:2]
    shown = np.full((height + STRIP, width, 3), 255, np.uint8)
    shown[:height] = frame
    write = {
        "fontFace": cv2.FONT_HERSHEY_SIMPLEX,
        "fontScale": 0.4,
        "color": (0, 0, 0),
        "lineType": cv2.LINE_AA,
    }
    cv2.line(shown, (width // 2, 0), (width // 2, height), (255, 255, 0), 1)
    for degrees in MARKS:
        across = round(width / 2 * (1 + math.tan(math.radians(degrees)) / math.tan(math.radians(HALF_VIEW))))
        cv2.line(shown, (across, height), (across, height + 8), (0, 0, 0), 1)
        cv2.putText(shown, str(degrees), (across - 10, height + 24), **write)
    left = 10
    for away in AWAY:
        wide = round(width / 2 * WIDE / away)
        cv2.rectangle(shown, (left, height + 46), (left + wide, height + 54), (0, 0, 0), -1)
        cv2.putText(shown, f"{WIDE} units, {away} away", (left, height + 74), **write)
        left += max(wide, 130) + 20
    return shown


def score(file: Path, foretold: list[int]) -> None:
    answers = json.loads(file.read_text())
    for who in ("agent", "student"):
        actions = answers[who]
        right = [told == done for told, done in zip(foretold, actions, strict=True)]
        print(f"{who}: {sum(right)} of {len(right)} right; it did {','.join(map(str, actions))}")
    alike = [told == done for told, done in zip(answers["the commonest"], answers["agent"], strict=True)]
    print(f"the commonest action, {answers['the commonest'][0]}, is the agent's in {sum(alike)}")


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
