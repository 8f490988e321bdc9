"""Studies over HTTP: how far they are, and their report, made in a process of its own."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ..errors import InputError
from .desk import Desk
from .library import Library
from .requests import answering

REPORT_SECONDS = 600.0
_REPORT_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    "frame-ancestors 'self'; sandbox allow-scripts"
)


class Studies:
    """The studies of the source that the studio was started with."""

    def __init__(self, library: Library, desk: Desk) -> None:
        self.library, self.desk = library, desk
        self.reporting = Desk()  # a report takes long, and must not keep others waiting

    def routes(self) -> list[Route]:
        """All addresses of this part."""
        return [
            Route("/api/studies", answering(self.listed)),
            Route("/api/studies/report", answering(self.report)),
            Route("/api/studies/paper", answering(self.paper)),
        ]

    async def close(self) -> None:
        """End the process that makes reports."""
        await self.reporting.close()

    async def listed(self, _: Request) -> Response:
        """All studies."""
        source = self.library.studies
        if source is None:
            return JSONResponse({"studies": [], "source": None})
        return JSONResponse({"studies": await self.desk.ask("studies", source=source), "source": source})

    async def report(self, _: Request) -> Response:
        """The report of all studies, as one page."""
        if self.library.studies is None:
            raise InputError("there is no study here; start the studio with --studies")
        return _page(
            await self.reporting.ask("study_report", source=self.library.studies, seconds=REPORT_SECONDS)
        )

    async def paper(self, _: Request) -> Response:
        """The report of the paper's own tables."""
        return _page(await self.reporting.ask("study_report", source=None, seconds=REPORT_SECONDS))


def _page(content: bytes) -> Response:
    headers = {"content-security-policy": _REPORT_POLICY}
    return Response(content, media_type="text/html; charset=utf-8", headers=headers)
