"""A corridor in which something goes wrong, for tests of what is done about it. Here, where workers can import it."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from neuroplastic.errors import ConfigError
from neuroplastic.experiment.game import GameLostError
from tests.small_game import Corridor, CorridorTask


class UnrulyCorridor(Corridor):
    """Goes wrong in the way that its task says."""

    def __init__(self, task: UnrulyTask, seed, stream, *, film: bool) -> None:
        super().__init__(task, seed, stream, film=film)
        self.fault, self.notes = task.fault, Path(task.notes)
        self.begun = 0

    def reset(self, *, seed=None, options=None):
        if self.fault == "kills itself":
            os.kill(os.getpid(), signal.SIGKILL)
        self.begun = self._count(f"begun-{options['episode']}")
        return super().reset(seed=seed, options=options)

    def start(self, generator):
        super().start(generator)
        self._place = self.cells // 2  # too far from the door for an episode's end before its time

    def step(self, action):
        seen, reward, terminated, truncated, info = super().step(action)
        if self.episode == 1 and self._time == 2:
            if self.fault == "is lost" and self._count("lost") == 1:
                raise GameLostError("the engine crashed")
            if self.fault == "is interrupted" and self._count("interrupted") == 1:
                raise KeyboardInterrupt
            if self.fault == "fails":
                raise ZeroDivisionError("no floor here") if action else ConfigError("option must be 1, got 2")
            if self.fault == "is misshapen":
                return np.zeros(2, np.float32), reward, terminated, truncated, info
        if self.fault == "is lost" and self.episode == 2 and self._time == 2 and self._count("killed") == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        if self.fault == "ends early" and self.begun > 1:
            self.over = True
            return seen, reward, True, False, info
        return seen, reward, terminated, truncated, info

    def look(self):
        seen = super().look()
        return seen + np.float32(self.begun) if self.fault == "drifts" else seen

    def _count(self, what: str) -> int:
        """How often this was asked, in all processes."""
        with (self.notes / what).open("a") as file:
            file.write("x")
            return file.tell()


@dataclass(frozen=True)
class UnrulyTask(CorridorTask):
    """Its episodes last four steps, if nothing goes wrong."""

    fault: str = ""
    notes: str = ""
    """a folder where processes count together"""
    cells: int = 9
    limit: int = 4

    key = "unruly"

    def environment(self, *, seed=0, stream="training", film=False) -> UnrulyCorridor:
        return UnrulyCorridor(self, seed, stream, film=film)
