"""What there is to tell of an agent's decisions while it plays: its leading rule, a student's words, where it looks."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ..experiment.agent import greedy
from ..experiment.decision import decision, head_rules, leading_sentence
from ..experiment.game import Game
from ..experiment.painting import Told, paint
from ..experiment.play import watch_evaluation
from ..experiment.protocols import Task
from ..experiment.run_folder import RunFolder
from ..experiment.showing import Frame
from ..experiment.teachers import picture_of
from ..learn.experience import Observations
from ..rules.explanations.hiding import ENOUGH, usual_picture
from ..rules.leading import leader
from ..rules.networks import levels_of
from ..rules.text.plain import plain_sentences
from .opening import OpenedRun, student_of

# Of the pictures that tell what is usual before the first decision: of no episode that is shown.
BEFORE = 4_000_037


@dataclass(frozen=True)
class Words:
    """A readable rule that leads in a state."""

    rule: int
    """from 1"""
    share: float
    """how strongly it fires"""
    sentence: str
    action: int
    """what the student, or the agent itself, does there"""


def sentences_of(run: OpenedRun) -> dict[int, str]:
    """The rules of a readable agent by number from 1, each with all that it asks for."""
    return dict(plain_sentences(head_rules(run.config, run.agent)[0], premises=None, outputs=None))


def words_of(run: OpenedRun) -> Callable[[Observations], Words]:
    """Tells of attributes (D,) which rule of a readable agent leads there, as a sentence."""
    told, level = sentences_of(run), levels_of(run.agent.advantage)[0]  # type: ignore[arg-type]

    def tell(seen: Observations) -> Words:
        with torch.inference_mode():
            firing = level.firing(run.agent.encoder(torch.from_numpy(seen[None]))).double()
        rule = int(leader(firing)[0])
        return Words(rule + 1, float(firing[0, rule]), told[rule + 1], int(greedy(run.agent, seen[None])[0]))

    return tell


def seen_with_words(run: OpenedRun, student: OpenedRun | None) -> Task:
    """The task to play so that an agent sees its pictures and its student, if it has one, the attributes."""
    task = run.config.task
    if student is None or not task.observation.is_picture:
        return task
    return replace(task, observe="objects")  # type: ignore[type-var]


def agreement_of(student: OpenedRun) -> float | None:
    """In which share of its own decisions a student did what its teacher would, as its run tells; None: it does not."""
    metrics = RunFolder(student.path).metrics()
    return metrics[-1].figures.get("agreement") if metrics else None


class Commentary:
    """Draws into frames why an agent does what it does; `task` is what is to be played."""

    def __init__(self, run: OpenedRun, *, heat: bool = True) -> None:
        run.need_rules()
        self.run = run
        self.pictures = run.config.task.observation.is_picture
        self.student = student_of(run) if self.pictures else None
        self.task = seen_with_words(run, self.student)
        readable = run if not self.pictures else self.student
        self._words = None if readable is None else words_of(readable)
        self._leader = leading_sentence(run.config, run.agent) if self.pictures else None
        self._seen: deque[Any] | None = deque(maxlen=ENOUGH) if self.pictures and heat else None
        names = run.config.task.actions
        self._told = Told((), names, (0.0,) * len(names), -1)

    def look(self, game: Game) -> Observations:
        """What the agent sees."""
        return picture_of(game) if self.student is not None else game.observation

    def decided(self, game: Game, seen: Observations, action: int) -> None:
        """Find out all there is to tell."""
        with torch.inference_mode():
            values = self.run.agent(torch.from_numpy(seen[None]))[0].tolist()
        words = [self._leader(seen)] if self._leader is not None else []
        if self._words is not None:
            found = self._words(game.observation)
            words.append(f"{'in words: ' if self.pictures else ''}{found.sentence}")
            if found.action != action:
                # Not always what the sentence says: the leading rule of a student may be outvoted.
                words.append(f"(the student would {self.run.config.task.actions[found.action]})")
        self._told = Told(words, self._told.actions, values, action, self._heat(seen))

    def painted(self, frame: Frame) -> Frame:
        """A frame with the latest decision."""
        return paint(frame, self._told)

    def _heat(self, seen: Any) -> NDArray[np.float64] | None:
        if self._seen is None:
            return None
        if not self._seen:
            policy = partial(greedy, self.run.agent)
            before = watch_evaluation(
                self.run.config.task, policy, observations=ENOUGH, episodes=ENOUGH, seed=BEFORE
            )
            self._seen.extend(before[:ENOUGH])
        self._seen.append(seen.copy())
        usual = usual_picture(np.stack(self._seen), len(self._seen) - 1)
        return decision(self.run.config, self.run.agent, seen, method="usual", usual=usual).heat
