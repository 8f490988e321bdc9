"""What a page sends: read within limits of size and time, checked, and refused with a reason."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from .. import safe_json
from ..errors import ConfigError, NeuroplasticError

SMALL = 256 * 1024
"""Bytes of a question."""
SECONDS = 60.0
"""That a page may take to send what it asks."""

Endpoint = Callable[[Request], Awaitable[Response]]
Kind = TypeVar("Kind")


def answering(endpoint: Endpoint) -> Endpoint:
    """An endpoint whose refusals are answers that a page can show."""

    @functools.wraps(endpoint)
    async def answer(request: Request) -> Response:
        try:
            return await endpoint(request)
        except NeuroplasticError as error:
            return JSONResponse({"why": str(error)}, 400)
        except HTTPException as error:
            return JSONResponse({"why": error.detail}, error.status_code)
        except ClientDisconnect:
            return Response(status_code=400)

    return answer


async def body_of(request: Request, most: int = SMALL, seconds: float = SECONDS) -> bytes:
    """The whole body; 413 where it is larger, 408 where it takes longer."""
    claimed = request.headers.get("content-length", "0")
    if not claimed.isdigit() or int(claimed) > most:
        raise HTTPException(413, f"this is larger than {most // 1024} KB, the most that is taken here")

    async def read() -> bytes:
        parts, size = [], 0
        async for part in request.stream():
            size += len(part)
            if size > most:
                raise HTTPException(
                    413, f"this is larger than {most // 1024} KB, the most that is taken here"
                )
            parts.append(part)
        return b"".join(parts)

    try:
        return await asyncio.wait_for(read(), seconds)
    except asyncio.TimeoutError:
        raise HTTPException(408, f"this took longer than {seconds:g} s to arrive") from None


async def json_of(request: Request) -> dict[str, Any]:
    """The body as a JSON object."""
    try:
        found = safe_json.parse(await body_of(request))
    except safe_json.JsonError as error:
        raise ConfigError("a question must be JSON") from error
    if not isinstance(found, dict):
        raise ConfigError("a question must be a JSON object")
    return found


def named(given: dict[str, Any], name: str, kind: type[Kind], default: Kind | None = None) -> Kind:
    """A value of a question, of its kind; a ConfigError where it is missing or another."""
    value = given.get(name, default)
    wrong = isinstance(value, bool) and kind is not bool
    if not isinstance(value, kind) or wrong:
        raise ConfigError(f"{name} must be {kind.__name__}, got {str(value)[:60]!r}")
    return value
