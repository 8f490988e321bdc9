"""The desk: a process in which models are opened and questions about them answered, one after the other."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Callable
from typing import Any

from ..errors import InputError, NeuroplasticError, in_short
from .worker import CRASHED, END, FAILED, Channel, Worker

Answer = Callable[..., Any]
ANSWER, REFUSED = "answer", "refused"


class DeskError(NeuroplasticError):
    """The desk did not answer: it took too long, or its process ended."""


def sit(channel: Channel) -> None:
    """Answer questions until told to end; what a question raises is its answer."""
    import torch

    from . import answers

    torch.set_num_threads(1)
    known: dict[str, Answer] = answers.QUESTIONS
    while (given := channel.command(None)) is not None and given[0] != END:
        number, name, arguments = given[1]
        try:
            channel.send(ANSWER, (number, known[name](**arguments)))
        except NeuroplasticError as error:
            channel.send(REFUSED, (number, in_short(error, 600)))
        except Exception as error:
            channel.send(REFUSED, (number, in_short(f"{type(error).__name__}: {error}", 600)))


class Desk:
    """Asks the process, which is started when it is first needed and again where it ended."""

    def __init__(self) -> None:
        self._worker: Worker | None = None
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._numbers = itertools.count()
        self._starting = asyncio.Lock()

    async def ask(self, question: str, *, seconds: float = 60.0, **arguments: Any) -> Any:
        """The answer; an InputError says why there is none, a DeskError that nobody was there."""
        loop = asyncio.get_running_loop()
        async with self._starting:
            if self._worker is None:
                self._worker = await asyncio.to_thread(Worker, sit, hear=self._ears(loop))
        worker, number, future = self._worker, next(self._numbers), loop.create_future()
        self._waiting[number] = future
        worker.tell("ask", (number, question, arguments))
        try:
            return await asyncio.wait_for(future, seconds)
        except asyncio.TimeoutError:
            await self._replace(worker)
            raise DeskError(f"this took longer than {seconds:g} s, and was given up") from None
        finally:
            self._waiting.pop(number, None)

    async def close(self) -> None:
        """End the process."""
        worker, self._worker = self._worker, None
        if worker is not None:
            await asyncio.to_thread(worker.close)

    async def _replace(self, worker: Worker) -> None:
        if self._worker is worker:
            self._worker = None
        await asyncio.to_thread(worker.close)

    def _ears(self, loop: asyncio.AbstractEventLoop) -> Callable[[str, Any], None]:
        def hear(kind: str, content: Any) -> None:
            with contextlib.suppress(RuntimeError):  # the loop has closed
                loop.call_soon_threadsafe(self._heard, kind, content)

        return hear

    def _heard(self, kind: str, content: Any) -> None:
        if kind in (FAILED, CRASHED):
            self._worker = None
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(
                        DeskError(content or "the process that answers has crashed; ask again")
                    )
            return
        number, answer = content
        asked = self._waiting.get(number)
        if asked is None or asked.done():
            return
        if kind == REFUSED:
            asked.set_exception(InputError(answer))
        else:
            asked.set_result(answer)
