"""Timing side by side in one process: contestants take turns, so that a busy machine slows all of them alike."""

from __future__ import annotations

import ctypes
import gc
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

# A contestant's turn lasts at least this long, so that a fast one is not judged by a single pass with cold caches.
TURN_SECONDS = 0.01
FEWEST_ROUNDS = 3
# A draw of held noise counts once in so many passes, so it is measured in fewer rounds.
ROUNDS_PER_DRAW = 8

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3


def reuse_memory(threshold: int = 1 << 30) -> bool:
    """Have glibc keep freed blocks up to `threshold` bytes for the next request; False on another C library.

    By default every large tensor is mapped anew and the kernel fills it with zeros page by page, which costs more
    than most of what is measured here. Set once, for the whole process, so it is the same for all contestants.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return bool(mallopt(_M_MMAP_THRESHOLD, threshold)) and bool(mallopt(_M_TRIM_THRESHOLD, threshold))


@dataclass
class Contestant:
    """Something to time: `run` is one pass; `draw`, where noise is held, makes the noise of `passes_per_draw`."""

    name: str
    run: Callable[[], object]
    draw: Callable[[], object] | None = None
    passes_per_draw: int = 1
    best: float = field(default=math.inf, init=False)
    best_draw: float = field(default=math.inf, init=False)

    @property
    def milliseconds(self) -> float:
        """Best time of a pass, and its share of a draw."""
        share = self.best_draw / self.passes_per_draw if self.draw else 0.0
        return 1e3 * (self.best + share)

    def take_turn(self, *, with_draw: bool) -> None:
        """Run for a while, each pass timed on its own."""
        if self.draw and with_draw:
            self.best_draw = min(self.best_draw, _seconds(self.draw))
        started = time.perf_counter()
        while True:
            self.best = min(self.best, _seconds(self.run))
            if time.perf_counter() - started > TURN_SECONDS:
                return


def _seconds(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def gpu_milliseconds(call: Callable[[], object], calls: int, turns: int) -> list[float]:
    """Per call, by turns of many calls each with one wait for the GPU at the end, after some calls to warm up."""
    import torch

    for _ in range(10):
        call()
    times = []
    for _ in range(turns):
        torch.cuda.synchronize()
        began = time.perf_counter()
        for _ in range(calls):
            call()
        torch.cuda.synchronize()
        times.append(1e3 * (time.perf_counter() - began) / calls)
    return times


def race(contestants: Sequence[Contestant], seconds: float) -> int:
    """Let all contestants take turns for about `seconds`, after one pass each that does not count; rounds made."""
    for contestant in contestants:
        contestant.run()
    collecting = gc.isenabled()
    gc.disable()
    try:
        started, rounds = time.perf_counter(), 0
        while rounds < FEWEST_ROUNDS or time.perf_counter() - started < seconds:
            for contestant in contestants:
                contestant.take_turn(with_draw=rounds % ROUNDS_PER_DRAW == 0)
            rounds += 1
        return rounds
    finally:
        if collecting:
            gc.enable()
