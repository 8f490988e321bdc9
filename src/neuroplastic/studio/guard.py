"""Who may ask: every request and every WebSocket passes here before anything else of the studio sees it."""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlencode

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

COOKIE = "neuroplastic-token"
OWN_NAMES = ("127.0.0.1", "localhost", "[::1]")
"""What a browser on this machine may call the studio."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
    "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
# Methods that change nothing; a browser sends them without an Origin, the others never.
_READING = ("GET", "HEAD")


@dataclass(frozen=True)
class Door:
    """Where the studio listens, and the token that it asks for; None where only this machine can reach it."""

    host: str
    port: int
    token: str | None = None

    def knows(self, name: str) -> bool:
        """Whether a Host header names the studio. A name of somebody's own that leads here does not (DNS rebinding)."""
        host, port = _parted(name)
        if port != (self.port if self.port != 80 else port or 80):
            return False
        if self.token is None:
            return host in OWN_NAMES
        # An address in figures cannot be another's name, and whoever knows no token gets nowhere.
        return host in (*OWN_NAMES, self.host) or _is_address(host)


def _parted(name: str) -> tuple[str, int]:
    """Host and port of a Host header; port 80 where it gives none, -1 where that is no number."""
    host, colon, port = name.rpartition(":")
    if not colon or name.endswith("]"):
        return name.lower(), 80
    return host.lower(), int(port) if port.isascii() and port.isdigit() and len(port) < 6 else -1


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


class Guard:
    """Refuses foreign hosts and origins, and strangers without the token; adds the headers that every answer has."""

    def __init__(self, app: App, door: Door) -> None:
        self.app, self.door = app, door

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Let through what may pass."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        answer = self._answer(scope)
        if answer is None:
            await self.app(scope, receive, _with_headers(send))
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})
        else:
            await _say(_with_headers(send), *answer)

    def _answer(self, scope: Message) -> tuple[int, str, dict[str, str]] | None:
        """None for what may pass, else status, text and headers of the refusal."""
        hosts = _values(scope, b"host")
        if len(hosts) != 1 or not self.door.knows(hosts[0]):
            return 421, "this is not the host you asked for", {}
        if not self._is_own_page(scope, hosts[0]):
            return 403, "requests from other sites are refused", {}
        if self.door.token is None:
            return None
        given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [])
        if scope["type"] == "http" and scope["method"] == "GET" and any(map(self._is_token, given)):
            return self._welcome(scope)
        if any(self._is_token(token) for token in _tokens(scope)):
            return None
        return 401, "open the address with the token that the studio printed", {}

    def _is_own_page(self, scope: Message, host: str) -> bool:
        origins, sites = _values(scope, b"origin"), _values(scope, b"sec-fetch-site")
        own = (f"http://{host.lower()}", f"https://{host.lower()}")
        if any(origin.lower() not in own for origin in origins) or len(origins) > 1:
            return False
        if scope["type"] == "websocket" or scope["method"] not in _READING:
            return len(origins) == 1
        # A link on another site may lead here; its scripts and pictures may not.
        foreign = any(site not in ("same-origin", "none") for site in sites)
        return not foreign or _values(scope, b"sec-fetch-dest") == ["document"]

    def _is_token(self, given: str) -> bool:
        assert self.door.token is not None
        return hmac.compare_digest(given.encode(), self.door.token.encode())

    def _welcome(self, scope: Message) -> tuple[int, str, dict[str, str]]:
        """Keep the token in a cookie, and its address out of the history."""
        asked = parse_qs(scope["query_string"].decode("latin-1"))
        rest = urlencode({name: values for name, values in asked.items() if name != "token"}, doseq=True)
        path = "/" + scope["path"].lstrip("/\\")  # two slashes would name another host
        cookie = f"{COOKIE}={self.door.token}; HttpOnly; SameSite=Strict; Path=/"
        place = _quoted(path) + (f"?{rest}" if rest else "")
        return 303, "welcome", {"location": place, "set-cookie": cookie}


def _quoted(path: str) -> str:
    from urllib.parse import quote

    return quote(path, safe="/")


def _values(scope: Message, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key.lower() == name]


def _tokens(scope: Message) -> list[str]:
    """What cookies and the Authorization header give as token."""
    found = [value[7:] for value in _values(scope, b"authorization") if value.startswith("Bearer ")]
    for text in _values(scope, b"cookie"):
        try:
            cookie = SimpleCookie(text)
        except CookieError:
            continue
        if COOKIE in cookie:
            found.append(cookie[COOKIE].value)
    return found


async def _say(send: Send, status: int, text: str, headers: dict[str, str]) -> None:
    given = {"content-type": "text/plain; charset=utf-8", **headers}
    listed = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in given.items()]
    await send({"type": "http.response.start", "status": status, "headers": listed})
    await send({"type": "http.response.body", "body": f"{text}\n".encode()})


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = {name.lower() for name, _ in message["headers"]}
            own = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
            message["headers"] = [*message["headers"], *((n, v) for n, v in own if n not in given)]
        await send(message)

    return sending
