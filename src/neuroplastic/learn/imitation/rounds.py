"""Teacher and student take turns: who plays, what is shown, and which student is kept."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass

from .config import ImitationConfig
from .demonstrations import Demonstrations
from .student import Student, fit_student

Collect = Callable[[Student | None, int], Demonstrations]
"""Plays a round of that number, from 0, by a student, or by the teacher itself; what the teacher would do there."""


@dataclass(frozen=True)
class Judged:
    """How a student plays: what its episodes return, and how often it does what its teacher would."""

    returns: tuple[float, ...]
    agreement: float

    @property
    def score(self) -> float:
        """The mean return."""
        return statistics.fmean(self.returns)

    @property
    def error(self) -> float:
        """The standard error of the mean return; 0 of a single episode."""
        many = len(self.returns)
        return statistics.stdev(self.returns) / math.sqrt(many) if many > 1 else 0.0


Judge = Callable[[Student], Judged]


@dataclass(frozen=True, eq=False)
class Round:
    """One round: the student that was fitted to all that was shown so far, and how well it plays."""

    number: int
    student: Student
    states: int
    judged: Judged

    @property
    def score(self) -> float:
        """The student's mean return in the episodes that it is judged by."""
        return self.judged.score


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
    """Of the rounds whose students score within a standard error of the highest score, the one that agrees most.

    Few episodes tell scores apart badly, and many states tell agreement apart well. Of equals, the last has seen most.
    """
    top = max(rounds, key=lambda made: made.score)
    as_high = [made for made in rounds if made.score >= top.score - top.judged.error]
    return max(as_high, key=lambda made: (made.judged.agreement, made.number))
