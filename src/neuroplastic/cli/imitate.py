"""`neuroplastic imitate`: a student is taught, and told in sentences."""

from __future__ import annotations

import argparse
import statistics
import sys

from ..learn.imitation.config import ImitationConfig
from ..learn.imitation.rounds import Round
from ..usecases.imitating import Imitated, imitate_teacher
from ..usecases.teaching import find_teacher, student_task


def run(options: argparse.Namespace) -> int:
    """Teach, print, and say where the student is kept."""
    config = ImitationConfig(
        method=options.method,
        rounds=options.rounds,
        states=options.states,
        max_rules=options.rules,
        max_premises=options.premises,
        costs=not options.no_costs,
    )
    teacher, task = find_teacher(options.teacher, student_task(options.task, options.observe))

    def told(made: Round) -> None:
        print(
            f"round {made.number + 1}: {made.states} states, score {made.score:.4g}",
            file=sys.stderr,
            flush=True,
        )

    made = imitate_teacher(
        task, teacher, config, episodes=options.episodes, seed=options.seed, runs=options.runs, on_round=told
    )
    print("\n".join(made.sentences))
    print(f"\n{report(made)}\n\n{made.diagnosis}\n\n{made.folder}")
    return 0


def report(made: Imitated) -> str:
    """How alike the two play, and what both score."""
    many = len(made.returns)
    spread = [statistics.stdev(of) if many > 1 else 0.0 for of in (made.returns, made.teacher_returns)]
    return (
        f"does what the teacher would in {100 * made.agreement:.1f} % of its decisions\n"
        f"score {made.score:.4g} +- {spread[0]:.3g} over {many} episodes; the teacher's {made.teacher_score:.4g} +- "
        f"{spread[1]:.3g}"
    )
