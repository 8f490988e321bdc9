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
from ..usecases.opening import open_run, student_of
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
        shown = f"score {made.score:.4g}, agreement {made.judged.agreement:.2f}"
        print(f"round {made.number + 1}: {made.states} states, {shown}", file=sys.stderr, flush=True)

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
    from ..usecases.translating import translate, translate_with, translation_page

    run = open_run(options.agent)
    teacher, task = find_teacher(options.agent, student_task(run.config.task.key))
    sizes = {"rounds": options.rounds, "states": options.states}
    sizes |= {"max_rules": options.rules, "max_premises": options.premises}
    given = {name: value for name, value in sizes.items() if value is not None}
    student = None if given or options.seed is not None else student_of(run)
    if student is None:
        config = ImitationConfig(**{"max_rules": 12, "max_premises": 4, **given})
        found = translate(task, teacher, config, seed=options.seed or 0, runs=options.runs)
    else:
        found = translate_with(student, task, teacher)
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
        f" ({100 * made.weighted:.1f} % where states count by what is at stake), and what the teacher values about as "
        f"much in {100 * made.as_good:.1f} %"
        if made.as_good > made.agreement
        else ""
    )
    return (
        f"does what the teacher would in {100 * made.agreement:.1f} % of {where}{nearly}\n"
        f"score {made.score:.4g} +- {spread[0]:.3g} over {many} episodes; the teacher's {made.teacher_score:.4g} +- "
        f"{spread[1]:.3g}"
    )
