"""`neuroplastic imitate`: what a student of a teacher takes; all that plays is imported when it runs."""

from __future__ import annotations

import argparse
from typing import Any

from .arguments import add_import, add_threads, is_number, late, whole


def add_to(commands: Any) -> None:
    """Add the commands to the parser."""
    imitate = commands.add_parser(
        "imitate",
        help="teach a few readable rules to play like a teacher",
        description="The student plays, the teacher says in each state what it would do (DAgger), and few short rules "
        "over named attributes are fitted to that. Prints the rules as sentences, how often the student does what the "
        "teacher would, what both score, and whether the rules decide; keeps the student as a run.",
    )
    imitate.add_argument("task", metavar="TASK", help="BP, BR, PP, HTL, DTC, TC, GH, or a Gymnasium id")
    imitate.add_argument(
        "--teacher",
        help="scripted (default, of DOOM), a run, an agent in the box such as DTC, a Stable-Baselines3 FILE.zip, or "
        "MODULE:FUNCTION from observations to actions or action values",
    )
    imitate.add_argument(
        "--data", metavar="FOLDER", help="a recording to clone, a Minari data set, and no teacher"
    )
    imitate.add_argument(
        "--observe",
        choices=("objects",),
        default="objects",
        help="what a student of DOOM sees (default: objects)",
    )
    imitate.add_argument("--rules", type=whole(2), default=8, help="rules, at most (default: 8)")
    imitate.add_argument(
        "--premises", type=whole(1), default=3, help="premises of a rule, at most (default: 3)"
    )
    imitate.add_argument(
        "--method",
        choices=("dagger", "cloning"),
        default="dagger",
        help="who plays (default: dagger, the student)",
    )
    imitate.add_argument("--rounds", type=whole(1), default=5, help="of playing and fitting (default: 5)")
    imitate.add_argument("--states", type=whole(100), default=2000, help="of each round (default: 2000)")
    imitate.add_argument("--no-costs", action="store_true", help="let all states count alike")
    imitate.add_argument("--episodes", type=whole(1), default=25, help="of the evaluation (default: 25)")
    imitate.add_argument("--seed", type=whole(0), default=0, help="of the student (default: 0)")
    imitate.add_argument(
        "--runs", default="runs", metavar="FOLDER", help="where run folders go (default: runs)"
    )
    add_import(imitate)
    add_threads(imitate)
    imitate.set_defaults(run=late("imitate", "run"))
    _add_translate(commands)
    _add_record_play(commands)
    _add_offline(commands)


def _add_translate(commands: Any) -> None:
    command = commands.add_parser(
        "translate",
        help="say in words what an agent does",
        description="Holds the rules of an agent's readable student beside the agent's own decisions: agreement "
        "overall and for each rule, and with --out a page with the pictures in which they differ. A student is taught "
        "if the agent has none, or if its size, rounds, states or seed are given.",
    )
    command.add_argument("agent", metavar="RUN", help="a run, or an agent in the box such as DTC")
    command.add_argument("--rules", type=whole(2), help="rules, at most (default: 12)")
    command.add_argument("--premises", type=whole(1), help="premises of a rule, at most (default: 4)")
    command.add_argument("--rounds", type=whole(1), help="of playing and fitting (default: 5)")
    command.add_argument("--states", type=whole(100), help="of each round (default: 2000)")
    command.add_argument("--out", metavar="FILE.html", help="also write a page")
    command.add_argument("--seed", type=whole(0), help="of the student (default: 0)")
    command.add_argument(
        "--runs", default="runs", metavar="FOLDER", help="where the student goes (default: runs)"
    )
    add_import(command)
    command.set_defaults(run=late("imitate", "run_translate"))


def _add_record_play(commands: Any) -> None:
    command = commands.add_parser(
        "record-play",
        help="play episodes and write them as a Minari data set",
        description="Observations (of DOOM pictures and named attributes), actions, rewards, seeds, and what the "
        "player thought its actions were worth, in a folder that minari.MinariDataset opens.",
    )
    command.add_argument(
        "player",
        metavar="AGENT",
        help="a run, an agent in the box such as DTC, or with --task: scripted, a Stable-Baselines3 FILE.zip, or "
        "MODULE:FUNCTION",
    )
    command.add_argument("--task", help="what is played, where AGENT does not say so")
    command.add_argument("--out", required=True, metavar="FOLDER", help="a new folder for the data set")
    command.add_argument("--episodes", type=whole(1), default=200, help="how many (default: 200)")
    command.add_argument("--seed", type=whole(0), default=0, help="of the episodes (default: 0)")
    command.add_argument(
        "--observe", choices=("both", "objects"), default="both", help="of DOOM: what is kept (default: both)"
    )
    command.add_argument(
        "--random", type=share, default=0.0, help="share of actions that are drawn at random (default: 0)"
    )
    add_import(command)
    add_threads(command)
    command.set_defaults(run=late("offline", "run_record_play"))


def _add_offline(commands: Any) -> None:
    command = commands.add_parser(
        "offline",
        allow_abbrev=False,
        help="learn an agent from a recording alone",
        description="Discrete conservative or implicit Q-learning, or plain cloning, from a Minari data set; evaluated "
        "by greedy episodes after each epoch, kept as a run. Any field of the configuration can be given, such as "
        "--epochs 10 --steps-per-epoch 5000 --conservatism 0.5.",
    )
    command.takes_fields = True
    command.add_argument(
        "task", nargs="?", metavar="TASK", help="as in train; of DOOM the named attributes are seen"
    )
    command.add_argument(
        "--data", metavar="FOLDER", help="a Minari data set with discrete actions, or its name"
    )
    command.add_argument(
        "--agent", choices=("nfn", "dnn"), default="nfn", help="rules (default) or a plain network"
    )
    command.add_argument("--method", choices=("cql", "iql", "cloning"), default="cql", help="default: cql")
    command.add_argument("--seed", type=whole(0), default=0, help="of the run (default: 0)")
    command.add_argument(
        "--runs", default="runs", metavar="FOLDER", help="where run folders go (default: runs)"
    )
    command.add_argument("--resume", metavar="RUN", help="go on with a run; with --epochs N up to N epochs")
    add_import(command)
    add_threads(command)
    command.set_defaults(run=late("offline", "run_offline"))


def share(text: str) -> float:
    """The type of an option that is a number from 0 to 1."""
    if not is_number(text) or not 0 <= float(text) <= 1:
        raise argparse.ArgumentTypeError(f"must be a number from 0 to 1, got {text!r}")
    return float(text)
