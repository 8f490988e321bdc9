"""Watching over a WebSocket: the newest frame goes out when the page is ready for one, and no frame is kept."""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import struct
from typing import Any

from starlette.websockets import WebSocket

from .. import safe_json
from .library import Library
from .playing import ANSWER, FRAME, READY, Shown, play
from .sockets import NO_AGENT, both_ways, refuse
from .worker import CRASHED, FAILED, Worker

MOST_VIEWERS = 6
SPEEDS = (0.05, 8.0)
GREATEST = 2**31 - 1
"""Of seeds and episodes."""
_CRASH = "the game's process ended without a word; start again, and if it happens again, see its terminal"


class Slot:
    """Holds what is to be sent next: the newest frame, with the newest facts if they were not sent; and answers."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._shown: Shown | None = None
        self._answers: list[dict[str, Any]] = []
        self._changed = asyncio.Event()
        self.over = False

    def hear(self, kind: str, content: Any) -> None:
        """Take a worker's message; called in its thread."""
        with contextlib.suppress(RuntimeError):  # the loop has closed: nobody looks any more
            self._loop.call_soon_threadsafe(self._put, kind, content)

    def _put(self, kind: str, content: Any) -> None:
        if kind == FRAME:
            before = self._shown
            if content.facts is None and before is not None and before.facts is not None:
                content = Shown(before.facts, content.jpeg, before.heat)
            self._shown = content
        elif kind in (FAILED, CRASHED):
            self.over = True
            self._answers.append({"kind": FAILED, "why": content or _CRASH})
        elif kind in (READY, ANSWER):
            self._answers.append({"kind": kind, **content})
        self._changed.set()

    async def take(self, ready: asyncio.Event) -> bytes | dict[str, Any] | None:
        """The next answer or, once the page is ready for a frame, the newest; waits. None when it is all over."""
        while True:
            if self._answers:
                return self._answers.pop(0)
            if self.over:
                return None
            if ready.is_set() and self._shown is not None:
                shown, self._shown = self._shown, None
                return packed(shown)
            self._changed.clear()
            await self._changed.wait()

    def wake(self) -> None:
        """Have `take` look again."""
        self._changed.set()


def packed(shown: Shown) -> bytes:
    """Lengths of facts and heat map, facts as JSON, heat map, JPEG."""
    facts = json.dumps(shown.facts, allow_nan=False, default=float).encode()
    return struct.pack(">II", len(facts), len(shown.heat)) + facts + shown.heat + shown.jpeg


class Viewers:
    """The games that are being watched; each has a process of its own, which ends with its page."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.count = 0

    async def watch(self, socket: WebSocket) -> None:
        """Serve one page until it goes."""
        await socket.accept()
        source = self.library.agents().get(socket.path_params["name"])
        try:
            seed = whole(socket.query_params.get("seed", 0))
            episode = whole(socket.query_params.get("episode", 0))
        except ValueError as error:
            await refuse(socket, str(error))
            return
        if source is None:
            await refuse(socket, NO_AGENT)
            return
        if self.count >= MOST_VIEWERS:
            await refuse(socket, f"{MOST_VIEWERS} games are being watched already; close one of those pages")
            return
        self.count += 1
        slot = Slot(asyncio.get_running_loop())
        worker = await asyncio.to_thread(Worker, play, str(source), seed, episode, hear=slot.hear)
        try:
            await _serve(socket, slot, worker)
        finally:
            await asyncio.shield(asyncio.to_thread(worker.close))
            self.count -= 1


async def _serve(socket: WebSocket, slot: Slot, worker: Worker) -> None:
    ready = asyncio.Event()

    async def sending() -> None:
        while (message := await slot.take(ready)) is not None:
            if isinstance(message, bytes):
                ready.clear()
                await socket.send_bytes(message)
            else:
                await socket.send_text(json.dumps(message, allow_nan=False))
        await socket.close()

    async def receiving() -> None:
        while True:
            kind, content = command_of(await socket.receive_text())
            if kind == "ready":
                ready.set()
                slot.wake()
            elif kind is not None:
                worker.tell(kind, content)

    await both_ways(sending(), receiving())


def command_of(text: str) -> tuple[str | None, Any]:
    """A page's command with its content, checked; None for anything else."""
    try:
        given = safe_json.parse(text)
        kind, value = given["do"], given.get("value")
        if kind in ("ready", "pause", "go", "step"):
            return kind, None
        if kind in ("rest", "heat"):
            return kind, bool(value)
        if kind == "speed":
            speed = float(value)
            return (kind, min(max(speed, SPEEDS[0]), SPEEDS[1])) if math.isfinite(speed) else (None, None)
        if kind in ("show", "episode"):
            return kind, whole(value)
        if kind == "why-not":
            back, action = value
            return kind, (whole(back), whole(action))
    except (ValueError, TypeError, KeyError, AttributeError):
        pass
    return None, None


def whole(text: Any) -> int:
    """A whole number from 0 to 2^31 - 1, or a ValueError."""
    try:
        found = int(text)
    except (TypeError, ValueError, OverflowError):
        found = -1
    if not 0 <= found <= GREATEST:
        raise ValueError(f"seed and episode must be whole numbers of at least 0, got {str(text)[:40]!r}")
    return found
