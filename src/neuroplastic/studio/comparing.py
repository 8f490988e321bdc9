"""Episodes of an agent with and without edits, in a process of their own, told over a WebSocket as they end."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Any

from starlette.websockets import WebSocket

from .. import safe_json
from ..errors import NeuroplasticError, in_short
from .library import Library
from .sockets import NO_AGENT, both_ways, refuse
from .worker import CRASHED, END, FAILED, Channel, Worker

PLAY, EPISODE, SEEN, REFUSED = "play", "episode", "seen", "refused"
MOST = 3
"""Pages that may compare at once."""
_CRASH = "the games' process ended without a word; load the page again"


class _Newer(Exception):  # noqa: N818
    """There are other edits by now."""


def compare(channel: Channel, source: str) -> None:
    """Play whenever there are new edits, until told to end."""
    import torch

    from ..usecases.comparing import Comparing, Played
    from ..usecases.opening import open_run
    from .edits import edits_of

    torch.set_num_threads(1)
    comparing = Comparing(open_run(source))
    given = channel.command(None)

    def tell(played: Played) -> None:
        nonlocal given
        newer = channel.command()
        if newer is not None:
            given = newer
            raise _Newer
        facts = {"number": number, "edited": played.edited, "episode": played.episode, "score": played.score}
        channel.send(EPISODE, facts)

    while given is not None and given[0] != END:
        number, edits = given[1]
        try:
            seen = comparing.play(edits_of(edits), tell)
            channel.send(SEEN, {"number": number, "ranges": seen.ranges, "leads": seen.leads})
        except _Newer:
            continue
        except NeuroplasticError as error:
            channel.send(REFUSED, {"number": number, "why": in_short(error, 600)})
        given = channel.command(None)
    comparing.close()


class Comparisons:
    """Pages on which an agent is edited; the games of each end with it."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.count = 0

    async def serve(self, socket: WebSocket) -> None:
        """Serve one page until it goes."""
        await socket.accept()
        source = self.library.agents().get(socket.path_params["name"])
        if source is None:
            await refuse(socket, NO_AGENT)
            return
        if self.count >= MOST:
            await refuse(socket, f"{MOST} pages play episodes already; close one of them")
            return
        loop, heard = asyncio.get_running_loop(), asyncio.Queue[tuple[str, Any]]()

        def hear(kind: str, content: Any) -> None:
            with contextlib.suppress(RuntimeError):  # the loop has closed: nobody listens any more
                loop.call_soon_threadsafe(heard.put_nowait, (kind, content))

        self.count += 1
        worker = await asyncio.to_thread(Worker, compare, str(source), hear=hear)
        try:
            await _serve(socket, heard, worker)
        finally:
            await asyncio.shield(asyncio.to_thread(worker.close))
            self.count -= 1


async def _serve(socket: WebSocket, heard: asyncio.Queue[tuple[str, Any]], worker: Worker) -> None:
    async def sending() -> None:
        while True:
            kind, content = await heard.get()
            if kind in (FAILED, CRASHED):
                await refuse(socket, content or _CRASH)
                return
            await socket.send_text(json.dumps({"kind": kind, **content}, allow_nan=False))

    async def receiving() -> None:
        while True:
            wish = wish_of(await socket.receive_text())
            if wish is not None:
                worker.tell(PLAY, wish)

    await both_ways(sending(), receiving())


def wish_of(text: str) -> tuple[int, list[Any]] | None:
    """The number of a wish and its edits, which are checked where they are used; None for anything else."""
    try:
        given = safe_json.parse(text)
        number, edits = given["number"], given["edits"]
    except (ValueError, TypeError, KeyError):
        return None
    right = isinstance(number, int) and not isinstance(number, bool) and isinstance(edits, list)
    return (number, edits) if right else None
