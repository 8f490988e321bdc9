"""Whoever can be asked what to do: a trained agent, a script, a model of another library, any function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from numpy.typing import NDArray

from ..errors import NeuroplasticError, in_short
from ..learn.experience import Observations
from ..learn.imitation.demonstrations import costs_of
from ..network.dueling import DuelingNetwork
from .game import Game, PolicyError
from .protocols import Task


class TeacherError(NeuroplasticError, RuntimeError):
    """A teacher raised an error of its own when it was asked what to do."""


def _what_is_shown(game: Game) -> Observations:
    return game.observation


def picture_of(game: Game) -> Observations:
    """The picture of a game that shows its player something else, as DOOM's environments can tell."""
    picture: Observations = game.environment.picture()  # type: ignore[attr-defined]
    return picture


@dataclass(frozen=True, eq=False)
class Teacher:
    """Answers observations (k, *shape) with actions (k,), or with the values of all actions (k, A)."""

    name: str
    answer: Callable[[Observations], npt.ArrayLike]
    look: Callable[[Game], Observations] = _what_is_shown
    """what of a game the teacher is shown"""

    def answered(self, observations: Observations) -> NDArray[Any]:
        """The answer to observations (k, *shape), as it comes; an error is a TeacherError that tells the state."""
        try:
            return np.asarray(self.answer(observations))
        except NeuroplasticError:
            raise
        except Exception as error:
            raise TeacherError(
                f"the teacher {self.name} failed with {type(error).__name__}: {in_short(error)}; it was shown "
                f"{_described(observations)}"
            ) from error


def _described(observations: Observations) -> str:
    """Type and shape of observations, and the numbers of the first one where it is no picture."""
    text = f"{observations.dtype} of shape {observations.shape}"
    if observations.ndim != 2 or not len(observations):
        return text
    return f"{text}, the first {in_short([round(float(x), 4) for x in observations[0]], 160)}"


def agent_teacher(name: str, network: DuelingNetwork, *, pictures: bool) -> Teacher:
    """A trained agent: its action values say what a wrong action costs. It may see pictures where students do not."""

    @torch.inference_mode()
    def values(observations: Observations) -> NDArray[np.float32]:
        found: NDArray[np.float32] = network(torch.from_numpy(np.ascontiguousarray(observations))).numpy()
        return found

    return Teacher(name, values, picture_of if pictures else _what_is_shown)


def model_teacher(name: str, model: Any, *, pictures: bool = False) -> Teacher:
    """A model with Stable-Baselines3's `predict`."""

    def act(observations: Observations) -> NDArray[np.int64]:
        actions, _ = model.predict(observations, deterministic=True)
        return np.asarray(actions, np.int64)

    return Teacher(name, act, picture_of if pictures else _what_is_shown)


def asked(
    teacher: Teacher, observations: Observations, task: Task
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The teacher's actions (k,), the plainest of those that do the same, and what the worst one would cost, (k,)."""
    return told(teacher.answered(observations), len(observations), task)


def told(answer: NDArray[Any], count: int, task: Task) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The same of an answer that was given to `count` observations."""
    if answer.shape == (count, len(task.actions)):
        values = answer.astype(np.float64)
        return plainest(task)[values.argmax(axis=1)], costs_of(values)
    if answer.shape != (count,) or not np.issubdtype(answer.dtype, np.integer):
        raise PolicyError(
            f"a teacher must answer {count} observations with actions ({count},) or values ({count}, "
            f"{len(task.actions)}), got {answer.dtype} of shape {answer.shape}"
        )
    return plainest(task)[answer], np.ones(count)


def plainest(task: Task) -> NDArray[np.int64]:
    """For each action of a task the one with the fewest buttons that does the same; itself where nothing is known."""
    found = getattr(task, "plain_actions", None)
    return np.arange(len(task.actions)) if found is None else np.asarray(found, np.int64)
