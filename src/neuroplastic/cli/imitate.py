"""`neuroplastic imitate`: a student is taught, and told in sentences."""

from __future__ import annotations

import argparse
import statistics
import sys
from pathlib import Path

from ..errors import ConfigError, choose
from ..gym.recordings import read_recording
from ..learn.imitation.config import ImitationConfig
from ..learn.imitation.rounds import Round
from ..usecases.imitating import Imitated, imitate_recording, imitate_teacher
from ..usecases.opening import open_run
from ..usecases.teaching import find_teacher, student_task
from ..whole_files import write_whole
from .arguments import new_file


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
    task = student_task(options.task, options.observe)
    if options.data is not None:
        if options.teacher is not None:
            raise ConfigError("--data is what somebody did, and --teacher somebody to ask: give one of them")
        recording = read_recording(options.data)
        name = Path(options.data).name
        cloned = imitate_recording(
            task,
            recording,
            config,
            name=name,
            episodes=options.episodes,
            seed=options.seed,
            runs=options.runs,
        )
        return _print(cloned)
    teacher, task = find_teacher(options.teacher, task)

    def told(made: Round) -> None:
        print(
            f"round {made.number + 1}: {made.states} states, score {made.score:.4g}",
            file=sys.stderr,
            flush=True,
        )

    made = imitate_teacher(
        task, teacher, config, episodes=options.episodes, seed=options.seed, runs=options.runs, on_round=told
    )
    return _print(made)


def run_translate(options: argparse.Namespace) -> int:
    """Say in words what an agent does."""
    target = None
    if options.out is not None:
        target = new_file("--out", options.out, replace=True)
        choose("the ending of --out", target.suffix.lower(), (".html",))
    from ..usecases.translating import translate, translation_page

    config = ImitationConfig(
        rounds=options.rounds,
        states=options.states,
        max_rules=options.rules,
        max_premises=options.premises,
    )
    task = student_task(open_run(options.agent).config.task.key)
    teacher, task = find_teacher(options.agent, task)
    found = translate(task, teacher, config, seed=options.seed, runs=options.runs)
    print(f"{found.text()}\n{found.student.folder}")
    if target is not None:
        write_whole(target, translation_page(found).encode())
        print(target)
    return 0


def _print(made: Imitated) -> int:
    print("\n".join(made.sentences))
    print(f"\n{report(made)}\n\n{made.diagnosis}\n\n{made.folder}")
    return 0


def report(made: Imitated) -> str:
    """How alike the two play, and what both score."""
    many = len(made.returns)
    spread = [statistics.stdev(of) if len(of) > 1 else 0.0 for of in (made.returns, made.teacher_returns)]
    where = "episodes held out" if made.config.learner.method == "cloning" else "its decisions"  # type: ignore[attr-defined]
    nearly = (
        f", and what the teacher values about as much in {100 * made.as_good:.1f} %"
        if made.as_good > made.agreement
        else ""
    )
    return (
        f"does what the teacher would in {100 * made.agreement:.1f} % of {where}{nearly}\n"
        f"score {made.score:.4g} +- {spread[0]:.3g} over {many} episodes; the teacher's {made.teacher_score:.4g} +- "
        f"{spread[1]:.3g}"
    )
