"""Tables and models over HTTP: rows come in, fits run elsewhere, models are tried and taken home."""

from __future__ import annotations

import asyncio
import contextlib
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ..errors import ConfigError, InputError, choose
from ..usecases.examples import EXAMPLES
from ..usecases.requests import FitRequest, TableRequest, rule_files
from .desk import Desk
from .exporting import attachment, exported
from .fitting import MOST_FITS, Fit, Fits
from .library import Library
from .requests import answering, body_of, json_of, named
from .uploads import Uploads, safe_name

MOST_BYTES = 20 * 1024 * 1024
MOST_TABLES = 20
# A page of a model brings its own script and style: nothing but those, and in a frame that is nobody's origin.
_PAGE_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    "frame-ancestors 'self'; sandbox allow-scripts"
)


@dataclass(frozen=True)
class Rows:
    """A file of rows that can be fitted."""

    name: str
    """as its owner calls it"""
    path: Path
    ours: bool
    """whether it was uploaded, and is the studio's to remove"""


@contextlib.contextmanager
def _by_its_name(rows: Rows | None) -> Iterator[None]:
    """Errors within tell of rows by the name that their owner gave them: nobody knows where the studio keeps them."""
    try:
        yield
    except InputError as error:
        if rows is None:
            raise
        raise InputError(str(error).replace(str(rows.path), rows.name)) from error


class Tables:
    """Rows, fits and models."""

    def __init__(self, library: Library, desk: Desk, threads: int = 1) -> None:
        self.library, self.desk = library, desk
        self.fits = Fits(library.models, threads)
        self.uploads = Uploads(library.models)
        self.rows: dict[str, Rows] = {}
        for name, path in library.given.items():
            if path.suffix.lower() in (".csv", ".parquet"):
                self.rows[name] = Rows(name, path, ours=False)

    def routes(self) -> list[Route]:
        """All addresses of this part."""
        model = "/api/models/{name}"
        return [
            Route("/api/tables", answering(self.listed), methods=["GET"]),
            Route("/api/tables", answering(self.upload), methods=["POST"]),
            Route("/api/tables/{key}", answering(self.look)),
            Route("/api/examples", answering(self.examples)),
            Route("/api/examples/{name}", answering(self.example), methods=["POST"]),
            Route("/api/fits", answering(self.fit), methods=["POST"]),
            Route("/api/fits/{number:int}", answering(self.progress)),
            Route("/api/fits/{number:int}/cancel", answering(self.cancel), methods=["POST"]),
            Route("/api/models", answering(self.models)),
            Route(model, answering(self.model)),
            Route(f"{model}/explain", answering(self.explain), methods=["POST"]),
            Route(f"{model}/rules", answering(self.rules), methods=["POST"]),
            Route(f"{model}/save", answering(self.save), methods=["POST"]),
            Route(f"{model}/export", answering(self.export), methods=["POST"]),
            Route(f"{model}/refit", answering(self.refit), methods=["POST"]),
            Route(f"{model}/page", answering(self.page)),
            Route(f"{model}/download/{{what}}", answering(self.download)),
        ]

    async def close(self) -> None:
        """End fits, and remove what was uploaded."""
        await self.end_fits()
        await asyncio.to_thread(self.uploads.close)

    async def end_fits(self) -> None:
        """Cancel all that run."""
        await asyncio.to_thread(self.fits.close)

    async def listed(self, _: Request) -> Response:
        """The tables at hand."""
        found = [{"key": key, "name": rows.name} for key, rows in self.rows.items()]
        return JSONResponse({"tables": found})

    async def upload(self, request: Request) -> Response:
        """Take a CSV file; read it elsewhere, and keep it only if it can be."""
        name = request.query_params.get("name", "table.csv")[:200]
        content = await body_of(request, MOST_BYTES)
        if not content.strip():
            raise ConfigError("the file is empty; it needs a header and rows below it")
        if b"\0" in content[:4096]:
            raise ConfigError("the file is not text; give a CSV file")
        return JSONResponse(await self._kept(name, content))

    async def examples(self, _: Request) -> Response:
        """Tables to try things with."""
        found = [{"key": key, "title": one.title, "question": one.question} for key, one in EXAMPLES.items()]
        return JSONResponse({"examples": found})

    async def example(self, request: Request) -> Response:
        """Take an example as if it had been uploaded."""
        name = choose("the example", request.path_params["name"], tuple(EXAMPLES))
        return JSONResponse(await self._kept(f"{name}.csv", await self.desk.ask("example", name=name)))

    async def _kept(self, name: str, content: bytes) -> dict[str, object]:
        key = secrets.token_hex(8)
        path = await asyncio.to_thread(self.uploads.write, f"{key}/{safe_name(name)}", content)
        self.rows[key] = Rows(name, path, ours=True)
        for old in [k for k, rows in self.rows.items() if rows.ours][:-MOST_TABLES]:
            self._forget(old)
        try:
            found = await self._look(key)
        except BaseException:
            self._forget(key)
            raise
        return found

    async def look(self, request: Request) -> Response:
        """The columns of a table at hand."""
        return JSONResponse(await self._look(request.path_params["key"]))

    async def fit(self, request: Request) -> Response:
        """Begin a fit."""
        given = await json_of(request)
        rows = self._rows(named(given, "table", str))
        ignore = tuple(str(name) for name in named(given, "ignore", list, []))
        table = TableRequest(
            rows.path, named(given, "target", str), named(given, "task", str, "auto"), ignore
        )
        readable = named(given, "readable", bool, True)
        how = FitRequest(folds=min(named(given, "folds", int, 5), 20), readable=readable)
        self._need_room()
        name = self._new_name(Path(rows.name).stem)
        made = await asyncio.to_thread(self.fits.start, table, how, name)
        return JSONResponse(made.told())

    async def progress(self, request: Request) -> Response:
        """How far a fit is, or what it gave."""
        return JSONResponse(self._fit(request).told())

    async def cancel(self, request: Request) -> Response:
        """End a fit."""
        made = self._fit(request)
        await asyncio.to_thread(self.fits.cancel, made)
        return JSONResponse(made.told())

    async def models(self, _: Request) -> Response:
        """The models at hand."""
        return JSONResponse({"models": list(self.library.models_of_tables())})

    async def model(self, request: Request) -> Response:
        """What can be tried of a model; with what its fit told."""
        found = await self.desk.ask("model", path=self._model(request)[1])
        return JSONResponse({**found, "files": rule_files()})

    async def explain(self, request: Request) -> Response:
        """Why a model answers a row as it does."""
        given = await json_of(request)
        rows, row = self._rows(named(given, "table", str)), named(given, "row", int)
        _, path = self._model(request)
        with _by_its_name(rows):
            return JSONResponse(await self.desk.ask("explain", path=path, data=str(rows.path), row=row))

    async def rules(self, request: Request) -> Response:
        """A model's rules after edits, and what these change on the rows at hand."""
        given = await json_of(request)
        _, path = self._model(request)
        key = given.get("table")
        rows = None if key is None else self._rows(str(key))
        data, edits = None if rows is None else str(rows.path), named(given, "edits", list, [])
        with _by_its_name(rows):
            return JSONResponse(await self.desk.ask("turned", path=path, edits=edits, data=data))

    async def save(self, request: Request) -> Response:
        """Write an edited model under a new name."""
        given = await json_of(request)
        name, path = self._model(request)
        wanted = self._new_name(named(given, "as", str, "") or f"{name}-turned")
        out = str(self.library.models / wanted)
        edits = named(given, "edits", list, [])
        return JSONResponse(await self.desk.ask("save_turned", path=path, edits=edits, out=out))

    async def export(self, request: Request) -> Response:
        """The rules of an edited model as a file."""
        given = await json_of(request)
        return await exported(self.desk, self._model(request)[1], given)

    async def refit(self, request: Request) -> Response:
        """Begin to learn on from a model's edited rules, on a table at hand."""
        given = await json_of(request)
        name, path = self._model(request)
        rows, edits = self._rows(named(given, "table", str)), named(given, "edits", list, [])
        self._need_room()
        wanted = self._new_name(named(given, "as", str, "") or f"{name}-learned")
        made = await asyncio.to_thread(self.fits.start_from, path, edits, str(rows.path), wanted)
        return JSONResponse(made.told())

    async def page(self, request: Request) -> Response:
        """The page that was written with a model, as it was written."""
        _, path = self._model(request)
        content = await self.desk.ask("page", path=path)
        headers = {"content-security-policy": _PAGE_POLICY}
        return Response(content, media_type="text/html; charset=utf-8", headers=headers)

    async def download(self, request: Request) -> Response:
        """A model's page, the model itself, its predictions, or its rules by the ending of a file."""
        name, path = self._model(request)
        what = request.path_params["what"]
        if what == "page":
            return attachment(f"{name}.html", await self.desk.ask("page", path=path))
        if what == "model":
            return attachment(f"{name}.zip", await self.desk.ask("archive", path=path))
        if what == "predictions":
            rows = self._rows(request.query_params.get("table", ""))
            with _by_its_name(rows):
                content = await self.desk.ask("predictions", path=path, data=str(rows.path))
            return attachment(f"{name}-predictions.csv", content)
        ending = choose("what", f".{what}", rule_files())
        return attachment(f"{name}{ending}", await self.desk.ask("rules_as", path=path, ending=ending))

    async def _look(self, key: str) -> dict[str, object]:
        rows = self._rows(key)
        with _by_its_name(rows):
            found = await self.desk.ask("look", path=str(rows.path), seconds=30.0)
        return {"key": key, "name": rows.name, **found}

    def _need_room(self) -> None:
        if len(self.fits.running) >= MOST_FITS:
            raise HTTPException(429, f"{MOST_FITS} fits are running already; wait for one, or cancel it")

    def _rows(self, key: str) -> Rows:
        if key not in self.rows:
            raise HTTPException(404, "this table is not at hand any more; drop the file again")
        return self.rows[key]

    def _fit(self, request: Request) -> Fit:
        found = self.fits.by_number.get(request.path_params["number"])
        if found is None:
            raise HTTPException(404, "there is no such fit")
        return found

    def _model(self, request: Request) -> tuple[str, str]:
        name = request.path_params["name"]
        path = self.library.models_of_tables().get(name)
        if path is None:
            raise HTTPException(404, "there is no model of that name here; choose one from the list")
        return name, str(path)

    def _forget(self, key: str) -> None:
        rows = self.rows.pop(key)
        if rows.ours:
            rows.path.unlink(missing_ok=True)
            with contextlib.suppress(OSError):
                rows.path.parent.rmdir()

    def _new_name(self, stem: str) -> str:
        """A name for a model: letters, digits and dashes of the file's, and a number where it is taken."""
        base = re.sub(r"[^A-Za-z0-9]+", "-", stem).strip("-")[:40] or "table"
        pending = {one.name for one in self.fits.running}
        names = (base if k == 1 else f"{base}-{k}" for k in range(1, 10_000))
        return next(n for n in names if n not in pending and not (self.library.models / n).exists())
