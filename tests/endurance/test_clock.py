"""Thirty hours of play by a clock that is made to run: nobody drifts, lags for good, or catches up in a rush."""

from types import SimpleNamespace

import numpy as np
import pytest

from neuroplastic.experiment import window
from neuroplastic.search import liveness
from neuroplastic.search.slots import Lease
from neuroplastic.studio import playing, presence

HOURS, RATE = 30, 35
SECONDS = HOURS * 3600
ASLEEP = 8 * 3600.0
"""for which a machine was closed in the middle, by a clock that counts it"""


class Clock:
    """Time that passes when somebody sleeps, and `cost` seconds at each look."""

    def __init__(self, cost: float = 0.0) -> None:
        self.now, self.cost, self.longest = 1e6, cost, 0.0

    def monotonic(self) -> float:
        self.now += self.cost
        return self.now

    def sleep(self, seconds: float) -> None:
        assert seconds >= 0
        self.now += seconds
        self.longest = max(self.longest, seconds)


def watched(clock, monkeypatch):
    """What the studio's player does between two frames."""
    monkeypatch.setattr(playing, "time", clock)
    sent = []
    channel = SimpleNamespace(send=lambda kind, shown: sent.append(kind))
    player = playing._Player(channel, SimpleNamespace(frames_per_second=RATE), 0, 0)
    player._pace()
    return player._pace


def shown(clock, monkeypatch):
    """What a window does for a frame."""
    monkeypatch.setattr(window, "time", clock)
    view = object.__new__(window._Window)
    nothing = SimpleNamespace(configure=lambda **_: None, update=lambda: None, zoom=lambda _: None)
    view._tk, view._root = SimpleNamespace(PhotoImage=lambda **_: nothing), nothing
    view._picture = view._caption = nothing
    view.reason, view._factor, view._open = "", 1, True
    view._pause, view._due = 1.0 / RATE, clock.now
    frames = [np.zeros((1, 1, 3), np.uint8)]
    return lambda: view.show(frames, "", 0.0)


@pytest.mark.parametrize("make", [watched, shown])
@pytest.mark.parametrize("hours", [0.1, pytest.param(HOURS, marks=pytest.mark.slow)])
def test_hours_of_frames_take_hours_and_a_long_sleep_is_not_caught_up_with(make, hours, monkeypatch):
    clock = Clock()
    frame = make(clock, monkeypatch)
    began, frames = clock.now, int(hours * 3600 * RATE)
    for number in range(frames):
        frame()
        if number == frames // 2:
            clock.now += ASLEEP
    taken = clock.now - began - ASLEEP
    assert taken == pytest.approx(frames / RATE, abs=1.0)
    assert clock.longest <= 1 / RATE + 1e-6


def test_a_machine_that_is_too_slow_for_the_pace_never_waits(monkeypatch):
    clock = Clock(cost=0.1)
    frame = watched(clock, monkeypatch)
    for _ in range(1000):
        frame()
    assert clock.longest == 0


def test_a_worker_that_beats_for_thirty_hours_is_never_given_up_and_one_that_stops_is(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(liveness, "time", clock)
    watch, every = liveness.Watch(grace=60.0), 20.0
    for beat in range(int(SECONDS / every)):
        leases = [Lease(slot, 1, 0, "worker", beat=beat) for slot in range(2)]
        assert watch.silent(leases) == []
        clock.sleep(every)
    last = [Lease(0, 1, 0, "worker", beat=beat), Lease(1, 1, 0, "worker", beat=beat + 1)]
    clock.sleep(61.0)
    assert watch.silent(last) == last[:1]


def test_a_page_that_speaks_every_minute_is_there_for_thirty_hours_and_gone_ten_minutes_after():
    clock = Clock()
    there = presence.Presence(clock.monotonic)
    for _ in range(HOURS * 60):
        there._heard = clock.monotonic()
        clock.sleep(60.0)
        assert not there.nobody
    clock.sleep(presence.GONE)
    assert there.nobody
