"""Requests and WebSockets straight to an ASGI application, with whatever headers an attacker would send."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

HOST = "127.0.0.1:8600"
ORIGIN = f"http://{HOST}"


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


def _headers(given: dict[str, str | list[str]]) -> list[tuple[bytes, bytes]]:
    listed = [
        (n, v) for n, values in given.items() for v in (values if isinstance(values, list) else [values])
    ]
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in listed]


def _scope(kind: str, address: str, headers: dict[str, str | list[str]]) -> dict[str, Any]:
    path, _, query = address.partition("?")
    return {
        "type": kind,
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "scheme": "http" if kind == "http" else "ws",
        "path": unquote(path),
        "raw_path": path.encode("latin-1", "replace"),
        "query_string": query.encode("latin-1", "replace"),
        "headers": _headers(headers),
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 8600),
        "root_path": "",
        "subprotocols": [],
    }


async def asked(
    app: Any,
    address: str,
    *,
    method: str = "GET",
    body: bytes | list[bytes] = b"",
    host: str | list[str] = HOST,
    **headers: str | list[str],
) -> Answer:
    """What the application answers; a POST comes from its own page unless headers say otherwise."""
    named = {"host": host, **{name.replace("_", "-"): value for name, value in headers.items()}}
    if method == "POST":
        named.setdefault("origin", ORIGIN)
    chunks = [body] if isinstance(body, bytes) else list(body)
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        if not chunks:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": chunks.pop(0), "more_body": bool(chunks)}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = _scope("http", address, {n: v for n, v in named.items() if v != []}) | {"method": method}
    await app(scope, receive, send)
    found = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return Answer(sent[0]["status"], found, b"".join(m.get("body", b"") for m in sent[1:]))


def ask(app: Any, address: str, **how: Any) -> Answer:
    """`asked`, in a loop of its own."""
    return asyncio.run(asked(app, address, **how))


def knock(
    app: Any, address: str, *, host: str | list[str] = HOST, **headers: str | list[str]
) -> list[dict[str, Any]]:
    """All that a WebSocket gets to see which says nothing and leaves once it was let in."""
    sent: list[Any] = []
    coming = [{"type": "websocket.connect"}, {"type": "websocket.disconnect", "code": 1001}]

    async def receive() -> dict[str, Any]:
        return coming.pop(0) if coming else {"type": "websocket.disconnect", "code": 1001}

    async def send(message: Any) -> None:
        sent.append(message)

    named = {"host": host, **{name.replace("_", "-"): value for name, value in headers.items()}}
    asyncio.run(app(_scope("websocket", address, {n: v for n, v in named.items() if v != []}), receive, send))
    return sent
