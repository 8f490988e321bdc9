"""`neuroplastic imitate`: what a student of a teacher takes; all that plays is imported when it runs."""

from __future__ import annotations

from typing import Any

from .arguments import add_import, late, whole


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
        help="scripted (default, of DOOM), a run, DTC or GH (agents in the box), a Stable-Baselines3 FILE.zip, or "
        "MODULE:FUNCTION from observations to actions or action values",
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
    imitate.set_defaults(run=late("imitate", "run"))
