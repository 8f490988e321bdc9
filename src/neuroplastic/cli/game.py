"""What `neuroplastic train`, `evaluate`, `record`, `box` and `runs` take; the game is imported when they run."""

from __future__ import annotations

import argparse
from typing import Any

from ..errors import MissingPackageError
from ..usecases.opening import box_names
from .arguments import FASTER, add_import, add_threads, installed, late, positive, whole

PACKAGES = ("gymnasium",)


def add_to(commands: Any) -> None:
    """Add the commands to the parser."""
    here = (
        ""
        if installed(*PACKAGES)
        else " (not installed: pip install 'neuroplastic[doom]' or 'neuroplastic[gym]')"
    )
    _add_train(commands, here)
    evaluate = commands.add_parser("evaluate", help=f"play greedy episodes with a run's network{here}")
    play = commands.add_parser(
        "play",
        help=f"show a trained agent at play{here}",
        description="Shows greedy episodes of an agent in a window where there is a display, else as a film.",
    )
    record = commands.add_parser("record", help=f"film episodes as an mp4{here}")
    boxed = ", ".join(box_names())
    for command in (play, evaluate, record):
        add_import(command)
        command.add_argument(
            "folder",
            metavar="RUN",
            help=f"a run folder, its name under runs/, or a trained agent in the box: {boxed}",
        )
        command.add_argument(
            "--which", choices=("best", "last"), default="best", help="epoch (default: best)"
        )
        command.add_argument("--seed", type=whole(), help="of the episodes (default: 0, as in training)")
    add_threads(evaluate, default=FASTER)
    add_threads(record)
    add_threads(play)
    play.add_argument("--episodes", type=whole(1), default=1, help="how many (default: 1)")
    play.add_argument(
        "--out", metavar="FILE", help="film here in any case (default without a display: RUN/play.mp4)"
    )
    play.add_argument(
        "--explain", action="store_true", help="write below the picture which rule leads, and why"
    )
    play.set_defaults(run=late("play", "run_play"))
    evaluate.add_argument("--episodes", type=whole(1), default=25, help="how many (default: 25)")
    evaluate.add_argument("--games", type=whole(1), help="played at once (default: as many as in training)")
    evaluate.add_argument("--device", default="cpu", help="cpu (default) or cuda")
    evaluate.set_defaults(run=late("play", "run_evaluate"))
    record.add_argument(
        "--episode", type=whole(0), default=0, help="the first evaluation episode (default: 0)"
    )
    record.add_argument("--out", metavar="FILE", help="where the film goes (default: RUN/episode-K.mp4)")
    record.add_argument(
        "--explain",
        action="store_true",
        help="heat, action values, the leading rule and a student's words into the film (20 s or five episodes); "
        "print one decision",
    )
    record.add_argument(
        "--episodes", type=whole(1), help="how many (default: 1; with --explain as said there)"
    )
    record.set_defaults(run=late("play", "run_record"))
    _add_box(commands, here)
    runs = commands.add_parser("runs", help=f"a table of runs{here}")
    runs.add_argument(
        "--runs", default="runs", metavar="FOLDER", help="where run folders lie (default: runs)"
    )
    runs.set_defaults(run=late("play", "run_list"))


def _add_box(commands: Any, here: str) -> None:
    command = commands.add_parser(
        "box",
        help=f"trained agents that come along, and their cards{here}",
        description="Lists the trained agents that the package brings along, or shows one's card. With --out a run "
        "becomes such an agent: its files, and a card with its score on new episodes and whether its rules decide.",
    )
    command.add_argument("folder", nargs="?", metavar="RUN", help="an agent in the box, or a run")
    command.add_argument("--out", metavar="FOLDER", help="put the run there, with a card")
    command.add_argument("--episodes", type=whole(1), default=100, help="for the score (default: 100)")
    command.add_argument("--seed", type=whole(0), default=9001, help="of these episodes (default: 9001)")
    command.add_argument(
        "--chosen", help="how this run was chosen, in words, for the card (default: as the card it has says)"
    )
    command.add_argument(
        "--command", dest="trained_by", help="that trained it (default: told from its configuration)"
    )
    command.add_argument(
        "--half",
        action="store_true",
        help="store large tensors in half precision; the card is of what is stored",
    )
    add_import(command)
    add_threads(command)
    command.set_defaults(run=late("play", "run_box"))


def _add_train(commands: Any, here: str) -> None:
    command = commands.add_parser(
        "train",
        allow_abbrev=False,
        help=f"train an agent on a task{here}",
        description="Train an agent on a DOOM scenario (10 epochs of 500 steps, 25 greedy episodes after each, as in "
        "the paper) or on any Gymnasium environment with discrete actions.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.takes_fields, command.late_epilog = True, _fields
    command.add_argument(
        "task",
        nargs="?",
        metavar="TASK",
        help="BP, BR, PP, HTL, DTC, TC, GH, or a Gymnasium id such as CartPole-v1",
    )
    command.add_argument("--agent", help="nfn (neuro-fuzzy, default) or dnn (plain network)")
    command.add_argument(
        "--preset",
        help="DOOM: short (default in the paper's scenarios: 5,000 steps of rewards alone), tuned (as many, formulas "
        "in the THEN parts; default in others), paper, taught (short with a script's advice), long (many games at "
        "once: minutes on a GPU); Gymnasium: standard (default), readable (vectors: few short rules that decide); or "
        "a FILE.json",
    )
    command.add_argument(
        "--learner",
        help="dqn (replay; DOOM's default) or parallel_q (many games at once; Gymnasium's default)",
    )
    command.add_argument(
        "--resume", metavar="RUN", help="go on with a run; with --epochs N also after its end, up to N epochs"
    )
    command.add_argument(
        "--from",
        dest="start",
        metavar="RUN",
        help="begin a new run with the network of a run or of an agent in the box, and without TASK with its "
        "configuration, of which fields may be changed; rules that were frozen in the studio stay as they are",
    )
    add_import(command)
    command.add_argument("--device", default="cpu", help="cpu (default) or cuda")
    add_threads(command, default=FASTER)
    command.add_argument("--runs", metavar="FOLDER", help="where run folders go (default: runs)")
    command.add_argument(
        "--seconds", type=positive, help="begin no further epoch that would end after this time"
    )
    command.set_defaults(run=late("train", "run"))


def _fields() -> str:
    try:
        from .train import field_help
    except MissingPackageError as error:
        return f"not available: {error}"
    return field_help()
