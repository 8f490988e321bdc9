"""Whether anybody looks: long work ends when the last page has been closed for good."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from .guard import App, Message, Receive, Send

GONE = 600.0
"""Seconds without a word of any page after which none is open: one that is hidden still speaks every minute or so."""
LOOKS = 15.0


class Presence:
    """Notes every request and every open WebSocket."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._heard, self._open = clock(), 0

    def noting(self, app: App) -> App:
        """The application, with everything that it is asked noted."""

        async def noted(scope: Message, receive: Receive, send: Send) -> None:
            self._heard = self._clock()
            self._open += 1
            try:
                await app(scope, receive, send)
            finally:
                self._open -= 1
                self._heard = self._clock()

        async def passed(scope: Message, receive: Receive, send: Send) -> None:
            await (noted if scope["type"] in ("http", "websocket") else app)(scope, receive, send)

        return passed

    @property
    def nobody(self) -> bool:
        """Whether all pages are closed for good."""
        return not self._open and self._clock() - self._heard > GONE

    async def end_when_alone(self, *ends: Callable[[], Awaitable[None]], every: float = LOOKS) -> None:
        """Call each of `ends` whenever nobody is there; for ever."""
        while True:
            await asyncio.sleep(every)
            if self.nobody:
                for end in ends:
                    await end()
