"""What the pages that talk over a WebSocket share: a refusal in words, and two ways at once until one of them ends."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Coroutine
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from .worker import FAILED

NO_AGENT = "there is no agent of that name here; choose one from the list"


async def refuse(socket: WebSocket, why: str) -> None:
    """Say why there is nothing to see, and close."""
    await socket.send_text(json.dumps({"kind": FAILED, "why": why}))
    await socket.close()


async def both_ways(sending: Coroutine[Any, Any, None], receiving: Coroutine[Any, Any, None]) -> None:
    """Send and receive until one of the two ends or the page goes."""
    tasks = [asyncio.ensure_future(sending), asyncio.ensure_future(receiving)]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()
    for task in tasks:
        with contextlib.suppress(asyncio.CancelledError, WebSocketDisconnect, RuntimeError, KeyError):
            await task
