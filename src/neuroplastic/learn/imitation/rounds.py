"""Teacher and student take turns: who plays, what is shown, and which student is kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .config import ImitationConfig
from .demonstrations import Demonstrations
from .student import Student, fit_student

Collect = Callable[[Student | None, int], Demonstrations]
"""Plays a round of that number, from 0, by a student, or by the teacher itself; what the teacher would do there."""
Judge = Callable[[Student], float]
"""The score of a student in play."""


@dataclass(frozen=True, eq=False)
class Round:
    """One round: the student that was fitted to all that was shown so far, and how well it plays."""

    number: int
    student: Student
    states: int
    score: float


def imitate(
    config: ImitationConfig,
    collect: Collect,
    judge: Judge,
    *,
    actions: int,
    seed: int,
    on_round: Callable[[Round], None] = lambda _: None,
) -> list[Round]:
    """DAgger, or cloning where the teacher plays every round; all rounds in order."""
    shown: list[Demonstrations] = []
    made: list[Round] = []
    for number in range(config.rounds):
        player = None if number == 0 or config.method == "cloning" else made[-1].student
        shown.append(collect(player, number))
        together = Demonstrations.joined(shown)
        student = fit_student(together, config, actions=actions, seed=seed + number)
        made.append(Round(number, student, len(together), judge(student)))
        on_round(made[-1])
    return made


def best(rounds: list[Round]) -> Round:
    """The round whose student scores highest; of equals the last, which has seen most."""
    return max(rounds, key=lambda made: (made.score, made.number))
