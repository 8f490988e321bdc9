"""What games of an arena show, to be compared bit by bit, and whether its processes live."""

import time

import numpy as np
import psutil

from neuroplastic.experiment.arena import Arena
from neuroplastic.learn.experience import Step
from tests.small_game import CatchTask, CorridorTask

TASKS = (CatchTask(cells=5), CorridorTask())
GAMES = 5
ACTIONS = np.random.default_rng(0).integers(2, size=(40, GAMES))


def seen_in(step: Step, arena: Arena) -> tuple[object, ...]:
    """All of a step, to compare bit by bit."""
    last = {game: observation.tobytes() for game, observation in step.last.items()}
    arrays = (step.rewards, step.terminated, step.truncated, step.observations)
    return (*(array.tobytes() for array in arrays), last, arena.episodes_ended, arena.steps)


def played(arena: Arena, first: int = 0, until: int = 40) -> list[tuple[object, ...]]:
    return [seen_in(arena.step(actions), arena) for actions in ACTIONS[first:until]]


def alive(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def wait_until_gone(pids: tuple[int, ...]) -> None:
    deadline = time.monotonic() + 10
    while left := [pid for pid in pids if alive(pid)]:
        assert time.monotonic() < deadline, f"after 10 seconds there are still {left}"
        time.sleep(0.01)
