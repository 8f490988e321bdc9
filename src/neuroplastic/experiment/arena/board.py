"""The rows, one per game, in which an arena and those who play for it meet."""

from __future__ import annotations

import math
import mmap
import os
import tempfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...network.observation import Observation
from ..game import observation_dtype

_ALIGNMENT = 64  # bytes; no row of one array shares a cache line with another array


class Board:
    """Actions in, and what came of them out: arrays whose first axis is the game.

    `actions` (int64) is written by the arena, all others by who plays the game: `observations` and `last` (the last
    observation of the episode that ended with the latest step), `rewards` (float64), `terminated`, `truncated`,
    `advice` (int64; what the game would do next, -1: it does not say).
    """

    actions: NDArray[np.int64]
    observations: NDArray[Any]
    last: NDArray[Any]
    rewards: NDArray[np.float64]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    advice: NDArray[np.int64]

    def __init__(self, games: int, observation: Observation, file: int | None = None) -> None:
        """`file` is the descriptor of a file from `shared_file`; without one the board is this process's own."""
        layout = _layout(games, observation)
        size = _size(layout)
        memory = bytearray(size) if file is None else mmap.mmap(file, size)
        offset = 0
        for name, (shape, dtype) in layout.items():
            count = math.prod(shape)
            setattr(self, name, np.frombuffer(memory, dtype, count, offset).reshape(shape))
            offset += _padded(count * dtype.itemsize)


def shared_file(games: int, observation: Observation) -> int:
    """The descriptor of a file that boards of several processes can lie in.

    It has no name: the kernel frees it with the last process that holds it, however that ends.
    """
    if hasattr(os, "memfd_create"):
        file = os.memfd_create("neuroplastic-arena")
    else:
        with tempfile.TemporaryFile() as temporary:
            file = os.dup(temporary.fileno())
    os.ftruncate(file, _size(_layout(games, observation)))
    return file


def _layout(games: int, observation: Observation) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
    seen = ((games, *observation.shape), observation_dtype(observation))
    return {
        "actions": ((games,), np.dtype(np.int64)),
        "observations": seen,
        "last": seen,
        "rewards": ((games,), np.dtype(np.float64)),
        "terminated": ((games,), np.dtype(np.bool_)),
        "truncated": ((games,), np.dtype(np.bool_)),
        "advice": ((games,), np.dtype(np.int64)),
    }


def _size(layout: dict[str, tuple[tuple[int, ...], np.dtype[Any]]]) -> int:
    return sum(_padded(math.prod(shape) * dtype.itemsize) for shape, dtype in layout.values())


def _padded(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT
