"""Runs begun, stopped and gone on with over HTTP; each trains in a process of its own."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ..errors import ConfigError, at_least
from ..usecases.opening import BOX
from .desk import Desk
from .library import Library
from .requests import answering, json_of, named
from .worker import CRASHED, END, FAILED, Channel, Worker

BEGUN, STEP, STOPPED, DONE, STARTING = "begun", "step", "stopped", "done", "starting"
MOST_RUNS = 2
"""That train at once."""
PERIOD = 0.3
# Seconds that a pace is taken over, and how many of them are kept.
PACE_PERIOD, MOST_PACES = 2.0, 300
TASKS = ("BP", "BR", "PP", "HTL", "DTC", "TC", "GH", "CartPole-v1", "Acrobot-v1", "MountainCar-v0")
"""Offered; any other of Gymnasium's can be typed."""
# Bounds of what a page may ask for.
_MOST = {"epochs": 1000, "steps_per_epoch": 10_000_000, "episodes": 1000, "seed": 2**31 - 1}


@dataclass(frozen=True)
class Wish:
    """A run that is to begin: of a task, or from a run's agent; or one that is to go on."""

    task: str = ""
    agent: str = ""
    preset: str | None = None
    fields: dict[str, str] = field(default_factory=dict)
    start: str | None = None
    resume: str | None = None


def train(channel: Channel, wish: Wish, runs: str, threads: int) -> None:
    """Train until done or told to stop; the state is saved then."""
    import torch

    from ..experiment.trial import Progress, Stopped
    from ..usecases.training import TrainRequest, begin_run, configuration, resume_run, started

    torch.set_num_threads(threads)
    fields, first = wish.fields, 0
    if wish.resume is not None:
        trial, first = resume_run(wish.resume, epochs=int(fields["epochs"]) if "epochs" in fields else None)
    elif wish.start is not None:
        found, config = started(wish.start, fields)
        trial = begin_run(config, runs=runs, start=found)
    else:
        request = TrainRequest(wish.task, wish.agent, wish.preset, fields=fields)
        trial = begin_run(configuration(request), runs=runs)
    channel.send(BEGUN, trial.folder.path.name)
    began, told = time.monotonic(), 0.0

    def on_progress(progress: Progress) -> None:
        nonlocal told
        if (given := channel.command()) is not None and given[0] == END:
            trial.stop_requested = True
        now = time.monotonic()
        if now - told >= PERIOD:
            told = now
            steps = trial.trainer.steps
            rate = (steps - first) / max(now - began, 1e-9)
            facts = {"steps": steps, "of": trial.config.protocol.steps, "rate": rate, "born": progress.born}
            channel.send(STEP, {**facts, "evaluated": progress.evaluated})

    with trial:
        try:
            trial.run(on_progress)
        except Stopped:
            channel.send(STOPPED, None)
            return
    channel.send(DONE, None)


@dataclass
class Training:
    """A run that trains here."""

    name: str = ""
    """of its folder, once it has one"""
    state: str = STARTING
    facts: dict[str, Any] = field(default_factory=dict)
    why: str = ""
    worker: Worker | None = None
    pace: list[tuple[int, float]] = field(default_factory=list)
    """steps, and how many a second were made of late"""
    _seen: tuple[float, int] | None = None

    def hear(self, kind: str, content: Any) -> None:
        """Take a message of the process."""
        if kind == BEGUN:
            self.name, self.state = content, STEP
        elif kind == STEP:
            self.facts = content
            self._note_pace(time.monotonic(), content["steps"])
        elif kind in (STOPPED, DONE):
            self.state = kind
        elif kind == FAILED or (kind == CRASHED and self.is_alive):
            self.state, self.why = (
                FAILED,
                content or "its process ended without a word; it can be gone on with",
            )

    def _note_pace(self, now: float, steps: int) -> None:
        """Steps a second since it was last noted; of a long run, every second note stays."""
        if self._seen is None:
            self._seen = now, steps
        elif now - self._seen[0] >= PACE_PERIOD:
            self.pace.append((steps, (steps - self._seen[1]) / (now - self._seen[0])))
            self._seen = now, steps
            if len(self.pace) > MOST_PACES:
                self.pace = self.pace[::2]

    @property
    def is_alive(self) -> bool:
        """Whether it starts or trains."""
        return self.state in (STARTING, STEP)

    def told(self) -> dict[str, Any]:
        """For the page."""
        return {"name": self.name, "state": self.state, "why": self.why, "pace": self.pace, **self.facts}


class Trainings:
    """All runs of the studio's folder, and those that train here."""

    def __init__(self, library: Library, desk: Desk, threads: int = 1) -> None:
        self.library, self.desk, self.threads = library, desk, threads
        self.here: list[Training] = []

    def routes(self) -> list[Route]:
        """All addresses of this part."""
        return [
            Route("/api/runs", answering(self.followed), methods=["GET"]),
            Route("/api/runs", answering(self.begin), methods=["POST"]),
            Route("/api/runs/{name}/stop", answering(self.stop), methods=["POST"]),
            Route("/api/runs/{name}/resume", answering(self.resume), methods=["POST"]),
        ]

    async def close(self) -> None:
        """Stop all that train here, each at a checkpoint if it can."""
        living = [one.worker for one in self.here if one.is_alive and one.worker is not None]
        await asyncio.gather(*(asyncio.to_thread(worker.close) for worker in living))

    async def stop_all(self) -> None:
        """Ask all that train here to stop at the next step, their state saved."""
        for one in self.here:
            if one.is_alive and one.worker is not None:
                one.worker.tell(END)

    async def followed(self, request: Request) -> Response:
        """The names of all runs, and the curves of those that are asked for."""
        known = self._runs()
        wanted = [name for name in request.query_params.getlist("run")[:8] if name in known]
        runs = [(name, str(known[name])) for name in wanted]
        curves = await self.desk.ask("followed", runs=runs) if runs else []
        told = [one.told() for one in self.here]
        return JSONResponse({"runs": list(known), "tasks": TASKS, "here": told, "followed": curves})

    async def begin(self, request: Request) -> Response:
        """Begin a run of a task, or from the agent of a run."""
        given = await json_of(request)
        fields = {
            name: str(min(at_least(name, given[name], 0), most))
            for name, most in _MOST.items()
            if given.get(name) is not None
        }
        if "start" in given:
            start = self.library.agents().get(named(given, "start", str))
            if start is None:
                raise HTTPException(404, "there is no agent of that name here; choose one from the list")
            return await self._start(Wish(fields=fields, start=str(start)))
        task = named(given, "task", str).strip()
        if not task or len(task) > 100 or ":" in task or "/" in task.removeprefix("ALE/"):
            raise ConfigError("task must be a name such as DTC or CartPole-v1")
        preset = named(given, "preset", str, "") or None
        if preset is not None and not preset.isalnum():
            raise ConfigError("preset must be a name such as readable")
        return await self._start(Wish(task, named(given, "agent", str, "nfn"), preset, fields))

    async def resume(self, request: Request) -> Response:
        """Go on with a run, if need be for more epochs."""
        given = await json_of(request)
        path = self._run(request)
        epochs = given.get("epochs")
        fields = (
            {} if epochs is None else {"epochs": str(min(at_least("epochs", epochs, 1), _MOST["epochs"]))}
        )
        return await self._start(Wish(fields=fields, resume=str(path)))

    async def stop(self, request: Request) -> Response:
        """Stop a run at the next step; its state is saved."""
        name = request.path_params["name"]
        for one in self.here:
            if one.is_alive and one.name == name and one.worker is not None:
                one.worker.tell(END)
                return JSONResponse(one.told())
        raise HTTPException(404, "no run of that name trains here")

    async def _start(self, wish: Wish) -> Response:
        if sum(one.is_alive for one in self.here) >= MOST_RUNS:
            raise HTTPException(429, f"{MOST_RUNS} runs train already; wait for one, or stop it")
        self.here = [one for one in self.here if one.is_alive or one.state == FAILED][-8:]
        made = Training()
        self.here.append(made)
        runs = str(self.library.runs)
        made.worker = await asyncio.to_thread(
            Worker, train, wish, runs, self.threads, hear=made.hear, may_have_children=True
        )
        return JSONResponse(made.told())

    def _runs(self) -> dict[str, Path]:
        """Runs of one's own: what is in the box is not trained on."""
        return {n: p for n, p in self.library.agents().items() if p.parent != BOX}

    def _run(self, request: Request) -> Path:
        found = self._runs().get(request.path_params["name"])
        if found is None:
            raise HTTPException(404, "there is no run of that name here; choose one from the list")
        return found
