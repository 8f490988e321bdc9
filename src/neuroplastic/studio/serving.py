"""The server: where it listens, which token it asks for, and its end."""

from __future__ import annotations

import secrets
import socket
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import uvicorn

from ..errors import ConfigError, InputError, at_most
from ..experiment.tasks import known_task
from ..usecases.opening import RUN, TABLE, in_the_box, kind_of, near_in_the_box
from .app import application
from .guard import Door
from .library import Library

LOCAL = ("127.0.0.1", "localhost", "::1")
DEFAULT = "DTC"
LAST_PORT = 65_535
STUDIES = "studies.db"
"""What `neuroplastic study run` makes where no other storage is named."""


def _names_a_table(source: str) -> bool:
    return source.lower().endswith((".csv", ".parquet"))


def starting_place(library: Library, source: str | None) -> str:
    """The address that shows what was named: a run, a model, a file of rows or a task; an InputError for none."""
    if source is None:
        return f"/watch/{DEFAULT}?seed=7"
    if _names_a_table(source) and Path(source).is_file():
        return f"/table?file={quote(library.add(Path(source)), safe='')}"
    boxed = in_the_box(source)
    if boxed is not None:
        return f"/watch/{quote(boxed.name, safe='')}?seed=7"
    try:
        kind = kind_of(source)
    except InputError:
        if "/" in source or Path(source).exists() or _names_a_table(source) or near_in_the_box(source):
            raise
        return f"/train?task={quote(_task(source), safe='')}"
    path = Path(source) if Path(source).exists() else library.runs / source
    name = quote(library.add(path), safe="")
    return f"/watch/{name}?seed=7" if kind == RUN else f"/{'table' if kind == TABLE else 'rules'}/{name}"


def _task(name: str) -> str:
    """The name of a task; one that there is not is an InputError: it was not the name of anything else, either."""
    try:
        known_task(name)
    except ConfigError as error:
        raise InputError(f"there is no run, model or file {name!r:.80}, and {error}") from error
    return name


def serve(
    source: str | None,
    *,
    host: str = "127.0.0.1",
    port: int = 8600,
    runs: str = "runs",
    models: str = "models",
    studies: str | None = None,
    threads: int = 1,
    show: bool = True,
    say: Callable[[str], None],
) -> None:
    """Serve until interrupted. On another address than this machine's own, a token is made, told once, and needed."""
    if studies is None and Path(STUDIES).is_file():
        studies = STUDIES
    library = Library(Path(runs), Path(models), studies)
    start = starting_place(library, source)
    listening = _listening(host, port)
    port = int(listening.getsockname()[1])
    local = host in LOCAL
    door = Door(host, port, None if local else secrets.token_urlsafe(24))
    named = f"[{host}]" if ":" in host else host
    base = f"http://{named if not local else '127.0.0.1' if ':' not in host else named}:{port}"
    separator = "&" if "?" in start else "?"
    address = base + start + ("" if door.token is None else f"{separator}token={door.token}")
    say(f"studio: {address}")
    say("stop it with Ctrl+C")
    if show:
        threading.Timer(0.5, webbrowser.open, [address]).start()
    config = uvicorn.Config(
        application(library, door, start=start, threads=threads),
        log_level="warning",
        ws_max_size=2**16,
        ws_per_message_deflate=False,  # JPEG does not shrink
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=3,
        h11_max_incomplete_event_size=2**15,
    )
    uvicorn.Server(config).run(sockets=[listening])


def _listening(host: str, port: int) -> socket.socket:
    """A socket that listens; a port that is taken is a ConfigError, and port 0 any that is free."""
    at_most("port", port, LAST_PORT)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
        found.listen(64)
    except OSError as error:
        found.close()
        raise ConfigError(
            f"cannot listen on {host} port {port}: {error.strerror}; choose another --port"
        ) from error
    return found
