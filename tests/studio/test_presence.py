"""Long work ends when the last page has been closed for good, and not before."""

import asyncio
import contextlib

import pytest

pytest.importorskip("starlette", reason="needs the extra 'studio'")

from neuroplastic.studio.presence import GONE, Presence


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_a_page_that_spoke_lately_or_holds_a_socket_open_is_there():
    clock = Clock()
    presence = Presence(clock)

    async def answers(*_):
        clock.now += 3 * GONE  # a game that is watched for half an hour
        assert not presence.nobody

    clock.now = GONE - 1
    assert not presence.nobody
    asyncio.run(presence.noting(answers)({"type": "websocket"}, None, None))
    assert not presence.nobody
    clock.now += GONE + 1
    assert presence.nobody


def test_work_ends_once_nobody_is_there():
    clock = Clock()
    presence, ended = Presence(clock), []

    async def end():
        ended.append(clock.now)

    async def some_time():
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(presence.end_when_alone(end, every=0.001), 0.05)

    asyncio.run(some_time())
    assert not ended
    clock.now = GONE + 1
    asyncio.run(some_time())
    assert ended
