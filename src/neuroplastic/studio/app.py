"""The application: all addresses in one table, behind the guard."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route, WebSocketRoute

from . import pages
from .agents import Agents
from .desk import Desk
from .guard import App, Door, Guard
from .library import Library
from .presence import Presence
from .studies import Studies
from .tables import Tables
from .training import Trainings
from .watch import Viewers


def application(library: Library, door: Door, *, start: str = "/watch/DTC?seed=7", threads: int = 1) -> App:
    """The studio as an ASGI application; `start` is where its bare address leads, fits and runs get `threads` each."""
    desk = Desk()
    tables, trainings = Tables(library, desk, threads), Trainings(library, desk, threads)
    studies = Studies(library, desk)

    async def home(_: Request) -> Response:
        return RedirectResponse(start, 303)

    presence = Presence()

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        watching = asyncio.create_task(presence.end_when_alone(tables.end_fits, trainings.stop_all))
        try:
            yield
        finally:
            watching.cancel()
            await trainings.close()
            await tables.close()
            await studies.close()
            await desk.close()

    shells = [
        Route(path, pages.page) for name in pages.existing() for path in (f"/{name}", f"/{name}/{{about}}")
    ]
    routes = [
        Route("/", home),
        Route("/api/here", _here),
        *shells,
        Route("/static/{name}", pages.static),
        *Agents(library, desk).routes(),
        WebSocketRoute("/api/watch/{name}", Viewers(library).watch),
        *tables.routes(),
        *trainings.routes(),
        *studies.routes(),
    ]
    inner = Starlette(routes=routes, exception_handlers={Exception: _failed}, lifespan=lifespan)
    return Guard(presence.noting(inner), door)  # type: ignore[arg-type]


async def _here(_: Request) -> Response:
    """Pages say now and then that they are still open."""
    return Response(status_code=204)


async def _failed(_: Request, __: Exception) -> Response:
    return PlainTextResponse("the studio could not answer this; its terminal says why", 500)
