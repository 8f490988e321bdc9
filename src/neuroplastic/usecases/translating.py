"""An agent in words: a student's rules beside its teacher's decisions, situation by situation."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from ..experiment.agent import greedy
from ..experiment.configuration import RunConfig
from ..experiment.decision import head_rules
from ..experiment.demonstrating import Demonstrated, demonstrate
from ..experiment.protocols import Task
from ..experiment.run_folder import RunFolder
from ..experiment.teachers import Teacher
from ..experiment.trial import EVALUATION_SEED
from ..learn.imitation.config import ImitationConfig
from ..network.dueling import DuelingNetwork
from ..report.agent_page import bars, page, picture, section
from ..rules.leading import leaders_of
from ..rules.networks import levels_of
from ..rules.text.plain import plain_sentences
from .imitating import Imitated, imitate_teacher, teacher_returns
from .opening import OpenedRun

# States of the teacher's own play that are compared, none of which the student learned from, and pictures a situation.
COMPARED, PICTURES = 2000, 4


@dataclass(frozen=True, eq=False)
class Situation:
    """The states in which one rule of the student leads."""

    sentence: str
    share: float
    """of all states"""
    agreement: float
    """share of them in which both do the same"""
    teacher: NDArray[np.float64]
    """(A,): how often the teacher takes each action there"""
    student: str
    """what the student does there most often"""
    student_share: float
    """how often that is; in the rest other rules outvote the one that leads"""
    differ: NDArray[np.uint8]
    """(k, H, W, C): pictures where they differ and that costs the teacher most; none of a task without pictures"""
    instead: tuple[str, ...]
    """what the teacher does in these"""


@dataclass(frozen=True, eq=False)
class _Known:
    """A student that was taught before."""

    folder: Path
    config: RunConfig
    agent: DuelingNetwork
    score: float
    teacher_score: float


Taught = Imitated | _Known


@dataclass(frozen=True, eq=False)
class Translation:
    """A student, and how it compares in its teacher's own play."""

    student: Taught
    agreement: float
    """share of the teacher's decisions that the student would make, too"""
    situations: tuple[Situation, ...]
    """most frequent first"""

    def text(self) -> str:
        """The situations as lines."""
        lines = [
            f"{each.sentence} ({100 * each.share:.0f} % of decisions; the teacher does what the student does in "
            f"{100 * each.agreement:.0f} %)"
            for each in self.situations
        ]
        scores = f"the student scores {self.student.score:.4g}, the teacher {self.student.teacher_score:.4g}"
        return "\n".join(
            [*lines, "", f"together {100 * self.agreement:.1f} % of the teacher's decisions; {scores}"]
        )


def translate(
    task: Task, teacher: Teacher, config: ImitationConfig, *, seed: int = 0, runs: str = "runs"
) -> Translation:
    """Teach a student, and hold it beside the teacher in play of the teacher's that neither was chosen on."""
    return _beside(imitate_teacher(task, teacher, config, seed=seed, runs=runs), task, teacher)


def translate_with(student: OpenedRun, task: Task, teacher: Teacher) -> Translation:
    """The same with a student that the agent has already; both are told with their scores on the same episodes."""
    returns = RunFolder(student.path).returns(1)
    theirs = teacher_returns(task, teacher, len(returns))
    known = _Known(
        student.path, student.config, student.agent, statistics.fmean(returns), statistics.fmean(theirs)
    )
    return _beside(known, task, teacher)


def _beside(student: Taught, task: Task, teacher: Teacher) -> Translation:
    played = demonstrate(
        task,
        teacher,
        None,
        states=COMPARED,
        seed=EVALUATION_SEED,
        first_episode=10_000,
        stream="evaluation",
        keep_looks=True,
    )
    return compared(student, played)


def compared(student: Taught, played: Demonstrated) -> Translation:
    """A student beside what its teacher did in states that were kept with their pictures."""
    states, should = played.shown.attributes, played.shown.actions
    does = greedy(student.agent, states)
    level = levels_of(student.agent.advantage)[0]  # type: ignore[arg-type]
    with torch.inference_mode():
        leaders = leaders_of(level, student.agent.encoder(torch.from_numpy(states)))
    told = dict(plain_sentences(head_rules(student.config, student.agent)[0], premises=None, outputs=None))
    order = np.argsort(-np.bincount(leaders, minlength=level.rules), kind="stable").tolist()
    make = partial(_situation, student, played, does, leaders)
    situations = tuple(make(rule, told[rule + 1]) for rule in order if (leaders == rule).any())
    return Translation(student, float((does == should).mean()), situations)


def _situation(
    student: Taught,
    played: Demonstrated,
    does: NDArray[np.int64],
    leaders: NDArray[np.int64],
    rule: int,
    sentence: str,
) -> Situation:
    names, should = student.config.task.actions, played.shown.actions
    here = np.flatnonzero(leaders == rule)
    wrong = here[does[here] != should[here]]
    worst = wrong[np.argsort(-played.shown.costs[wrong], kind="stable")][:PICTURES]
    looks, most = played.pictures, int(np.bincount(does[here]).argmax())
    return Situation(
        sentence,
        len(here) / len(leaders),
        float((does[here] == should[here]).mean()),
        np.bincount(should[here], minlength=len(names)) / len(here),
        names[most],
        float((does[here] == most).mean()),
        looks[worst].astype(np.uint8) if looks.ndim == 4 else np.empty((0, 1, 1, 3), np.uint8),
        tuple(names[action] for action in should[worst].tolist()),
    )


def translation_page(found: Translation) -> str:
    """A page: a card for each situation, with the pictures in which the two differ most."""
    names = found.student.config.task.actions
    cards = [
        section(
            f"{100 * each.share:.0f} % of decisions: the student would {each.student}{_how_often(each)}",
            [
                each.sentence,
                f"The teacher does what the student does in {100 * each.agreement:.0f} % of them. "
                "How often the teacher does what:",
            ],
            bars=bars(names, each.teacher, shares=True),
            figures=[
                picture(pixels, f"here the teacher would {instead}")
                for pixels, instead in zip(each.differ, each.instead, strict=False)
            ],
        )
        for each in found.situations
    ]
    introduction = (
        f"{len(found.situations)} rules of a student that makes {100 * found.agreement:.1f} % of the decisions of "
        f"{found.student.config.learner.teacher} in its own play, and scores "  # type: ignore[attr-defined]
        f"{found.student.score:.4g} where the teacher scores {found.student.teacher_score:.4g}. A card is what is done "
        "where its rule leads; others that fire, too, may outvote it, so that the student does something else there."
    )
    return page(f"{found.student.config.task.key} in words", introduction, cards)


def _how_often(each: Situation) -> str:
    """Said where the student does not always do the same while a rule leads."""
    return "" if each.student_share == 1 else f" in {100 * each.student_share:.0f} % of them"
