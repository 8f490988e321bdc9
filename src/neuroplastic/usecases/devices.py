"""Where a run computes: a device that is there, and a number of threads that pays."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import nn

from ..errors import ConfigError

# Steps of the race between one thread and all, and how much faster all must be: it varies by so much.
_ROUNDS, _STEPS, _CLEARLY = 6, 2, 0.9


def usable_device(name: str) -> torch.device:
    """The device of that name, if there is one that a run can use, else a ConfigError."""
    try:
        device = torch.device(name)
    except RuntimeError:
        device = None
    if device is None or device.type not in ("cpu", "cuda"):
        raise ConfigError(f"--device must be cpu, cuda or cuda:NUMBER, got {name!r}")
    if device.type == "cuda":
        count = torch.cuda.device_count()
        if count == 0:
            raise ConfigError(f"--device {name}: this PyTorch sees no CUDA device; use --device cpu")
        if (device.index or 0) >= count:
            raise ConfigError(f"--device {name}: the last CUDA device here is cuda:{count - 1}")
    return device


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def faster_threads(device: torch.device | str = "cpu") -> int:
    """Threads that a run is faster with at this moment: one, or one for each core that PyTorch may use.

    They take turns at training a small network. Where other programs use the cores, a step waits for the slowest of
    its threads: on a busy machine with two cores, two threads were seen to take seven times as long as one. Work for
    a GPU is handed on by one thread. Whoever has told PyTorch a smaller number (`OMP_NUM_THREADS`) meant it.
    """
    most = min(cores(), torch.get_num_threads())
    if most == 1 or torch.device(device).type != "cpu":
        return 1
    before = torch.get_num_threads()
    spent = dict.fromkeys((1, most), 0.0)
    step = _small_step()
    try:
        for _ in range(_ROUNDS):
            for threads in spent:
                torch.set_num_threads(threads)
                step()
                began = time.perf_counter()
                for _ in range(_STEPS):
                    step()
                spent[threads] += time.perf_counter() - began
            if spent[most] > 2 * spent[1]:
                break  # a busy machine: more turns would only take more time
    finally:
        torch.set_num_threads(before)
    return most if spent[most] < _CLEARLY * spent[1] else 1


@contextmanager
def threads_in_use(wanted: int, device: torch.device | str = "cpu") -> Iterator[int]:
    """Compute with that many threads, or with what is faster for 0; afterwards with as many as before."""
    before = torch.get_num_threads()
    threads = wanted or faster_threads(device)
    torch.set_num_threads(threads)
    try:
        yield threads
    finally:
        torch.set_num_threads(before)


def _small_step() -> Callable[[], None]:
    """A step of training with the sizes of the paper's agents; draws no random number."""
    pictures = torch.linspace(0, 1, 32 * 8 * 41 * 41).view(32, 8, 41, 41)
    convolution = torch.linspace(-1, 1, 8 * 8 * 3 * 3).view(8, 8, 3, 3).requires_grad_()
    linear = torch.linspace(-1, 1, 1600 * 128).view(1600, 128).requires_grad_()

    def step() -> None:
        features = nn.functional.conv2d(pictures, convolution, stride=2).relu().flatten(1)[:, :1600]
        torch.autograd.grad((features @ linear).square().mean(), (convolution, linear))

    return step
