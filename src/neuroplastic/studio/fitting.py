"""A fit in a process of its own: it tells how far it is, and what it made appears whole or not at all."""

from __future__ import annotations

import itertools
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..usecases.progress import Headway, Listener
from ..usecases.requests import FitRequest, TableRequest
from .worker import CRASHED, FAILED, Channel, Worker

PROGRESS, DONE, CANCELLED, RUNNING = "progress", "done", "cancelled", "running"
MOST_FITS = 2
"""That run at once."""
KEPT = 20
"""Ended ones that can still be asked about."""
# Seconds between two messages on how far it is.
PERIOD = 0.1


def fit(channel: Channel, table: TableRequest, how: FitRequest, name: str, out: str, threads: int) -> None:
    """Read, fit and write; told in the end."""
    import torch

    from ..usecases.preparing import prepare_table
    from ..usecases.table_pages import save_table
    from ..usecases.tables import fit_table
    from ..usecases.trying import outcome_of
    from .outcomes import keep_outcome

    torch.set_num_threads(threads)
    channel.send(PROGRESS, asdict(Headway("reading", 0, 1, "file")))
    prepared = prepare_table(table)
    fitted = fit_table(prepared, how, on_progress=_telling(channel))
    channel.send(PROGRESS, asdict(Headway("writing", 0, 1, "page")))
    saved = save_table(fitted, out)
    outcome = {**asdict(outcome_of(fitted, saved.summary)), "table": Path(table.data).name}
    keep_outcome(Path(out), outcome)
    channel.send(DONE, {"model": name, **outcome})


def refit(
    channel: Channel, path: str, edits: list[Any], data: str, name: str, out: str, threads: int
) -> None:
    """Learn on from edited rules; told in the end."""
    import torch

    from ..usecases.opening import OpenedTable, open_anything
    from ..usecases.refitting import refit_edited
    from .edits import edits_of
    from .outcomes import keep_turned

    torch.set_num_threads(threads)
    opened = open_anything(path)
    if not isinstance(opened, OpenedTable):
        raise InputError(f"{Path(path).name} is no model of a table")
    made = refit_edited(opened, edits_of(edits), data, out, on_progress=_telling(channel))
    told = {**asdict(made), "path": name}
    keep_turned(opened, Path(out), len(edits), learned_on=Path(data).name)
    channel.send(DONE, {"model": name, "refitted": told})


def _telling(channel: Channel) -> Listener:
    """Tells how far the work is, now and then; raises when it is to end."""
    told = 0.0

    def tell(headway: Headway) -> None:
        nonlocal told
        if channel.command() is not None:  # there is only one: to end
            raise InputError("cancelled")
        if time.monotonic() - told >= PERIOD or headway.done == headway.total:
            told = time.monotonic()
            channel.send(PROGRESS, asdict(headway))

    return tell


@dataclass
class Fit:
    """A fit as the studio sees it."""

    number: int
    name: str
    """of the model that it makes"""
    data: str = ""
    """the file that it learns from, which is told of by its name alone"""
    worker: Worker | None = None
    state: str = RUNNING
    headway: dict[str, Any] = field(default_factory=dict)
    outcome: dict[str, Any] = field(default_factory=dict)
    why: str = ""

    def hear(self, kind: str, content: Any) -> None:
        """Take a message of the process."""
        if self.state != RUNNING:
            return
        if kind == PROGRESS:
            self.headway = content
        elif kind == DONE:
            self.outcome, self.state = content, DONE
        elif kind in (FAILED, CRASHED):
            told = content and content.replace(self.data, Path(self.data).name) if self.data else content
            self.why = told or "the fit's process ended without a word; the studio's terminal may say why"
            self.state = FAILED

    def told(self) -> dict[str, Any]:
        """For the page."""
        return {
            "fit": self.number,
            "state": self.state,
            "headway": self.headway,
            "why": self.why,
            **({"outcome": self.outcome} if self.state == DONE else {}),
        }


class Fits:
    """All fits of a studio."""

    def __init__(self, models: Path, threads: int = 1) -> None:
        self.models, self.threads = models, threads
        self.by_number: dict[int, Fit] = {}
        self._numbers = itertools.count(1)

    @property
    def running(self) -> list[Fit]:
        """Those under way."""
        return [one for one in self.by_number.values() if one.state == RUNNING]

    def start(self, table: TableRequest, how: FitRequest, name: str) -> Fit:
        """Begin one; blocks while the process starts."""
        made = self._new(name, str(table.data))
        out = str(self.models / name)
        made.worker = Worker(fit, table, how, name, out, self.threads, hear=made.hear)
        return made

    def start_from(self, path: str, edits: list[Any], data: str, name: str) -> Fit:
        """Begin to learn on from a model's edited rules; blocks while the process starts."""
        made = self._new(name, data)
        out = str(self.models / name)
        made.worker = Worker(refit, path, edits, data, name, out, self.threads, hear=made.hear)
        return made

    def _new(self, name: str, data: str) -> Fit:
        made = Fit(next(self._numbers), name, data)
        self.by_number[made.number] = made
        for number in [n for n, one in self.by_number.items() if one.state != RUNNING][:-KEPT]:
            del self.by_number[number]
        return made

    def cancel(self, made: Fit) -> None:
        """End one; nothing was written that is not whole."""
        if made.state == RUNNING:
            made.state = CANCELLED
        if made.worker is not None:
            made.worker.close(patience=2.0)

    def close(self) -> None:
        """End all."""
        for one in list(self.by_number.values()):
            self.cancel(one)
