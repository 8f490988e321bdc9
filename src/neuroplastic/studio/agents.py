"""Agents over HTTP: their list, their rules turned by hand, and new runs of what was turned."""

from __future__ import annotations

import re

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute

from ..usecases.opening import BOX
from ..usecases.requests import rule_files
from .comparing import Comparisons
from .desk import Desk
from .exporting import exported
from .library import Library
from .requests import answering, json_of, named


class Agents:
    """Agents in the box and runs of one's own."""

    def __init__(self, library: Library, desk: Desk) -> None:
        self.library, self.desk = library, desk

    def routes(self) -> list[BaseRoute]:
        """All addresses of this part."""
        agent = "/api/agents/{name}"
        return [
            Route("/api/agents", answering(self.listed)),
            Route("/api/titles", answering(self.titles)),
            Route(f"{agent}/rules", answering(self.rules), methods=["POST"]),
            Route(f"{agent}/save", answering(self.save), methods=["POST"]),
            Route(f"{agent}/export", answering(self.export), methods=["POST"]),
            WebSocketRoute(f"{agent}/play", Comparisons(self.library).serve),
        ]

    async def listed(self, _: Request) -> Response:
        """The names of all agents."""
        found = self.library.agents()
        boxed = [name for name, path in found.items() if path.parent == BOX]
        return JSONResponse({"agents": list(found), "boxed": boxed, "files": rule_files()})

    async def titles(self, _: Request) -> Response:
        """What each agent plays; apart from the list, as that takes a process that can read runs."""
        runs = [(name, str(path)) for name, path in self.library.agents().items()]
        return JSONResponse(await self.desk.ask("titles", runs=runs))

    async def rules(self, request: Request) -> Response:
        """The rules by which an agent decides, after edits."""
        given = await json_of(request)
        edits = named(given, "edits", list, [])
        return JSONResponse(await self.desk.ask("turned_agent", path=self._path(request), edits=edits))

    async def save(self, request: Request) -> Response:
        """Write an edited agent as a run of a new name."""
        given = await json_of(request)
        path, edits = self._path(request), named(given, "edits", list, [])
        wanted = named(given, "as", str, "") or f"{request.path_params['name']}-turned"
        out = str(self.library.runs / self._new_name(wanted))
        return JSONResponse(await self.desk.ask("save_turned_agent", path=path, edits=edits, out=out))

    async def export(self, request: Request) -> Response:
        """The rules of an edited agent as a file."""
        given = await json_of(request)
        return await exported(self.desk, self._path(request), given)

    def _path(self, request: Request) -> str:
        found = self.library.agents().get(request.path_params["name"])
        if found is None:
            raise HTTPException(404, "there is no agent of that name here; choose one from the list")
        return str(found)

    def _new_name(self, wanted: str) -> str:
        """Letters, digits and dashes of a name, and a number where it is taken."""
        base = re.sub(r"[^A-Za-z0-9]+", "-", wanted).strip("-")[:60] or "agent"
        taken = self.library.agents()
        names = (base if k == 1 else f"{base}-{k}" for k in range(1, 10_000))
        return next(n for n in names if n not in taken and not (self.library.runs / n).exists())
