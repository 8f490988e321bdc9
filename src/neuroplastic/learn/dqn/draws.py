"""Random numbers that replayed pictures are changed by: NumPy's on the host, torch's on a device."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import torch
from torch import Tensor


class Draws(Protocol):
    """Where the random numbers of augmentation come from."""

    def moves(self, pixels: int, count: int) -> tuple[Tensor, Tensor]:
        """Moves down and to the right, -pixels to pixels, (2, count, 1) each: of the states, of those that follow."""
        ...

    def turns(self, count: int) -> Tensor:
        """Which half, about, is seen in a mirror: (count,)."""
        ...


class HostDraws:
    """Numbers of a NumPy generator."""

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator

    def moves(self, pixels: int, count: int) -> tuple[Tensor, Tensor]:
        """Two draws, one after the other."""
        first, second = (self._generator.integers(-pixels, pixels + 1, (2, count, 1)) for _ in range(2))
        return torch.from_numpy(first), torch.from_numpy(second)

    def turns(self, count: int) -> Tensor:
        """A draw of uniform numbers."""
        return torch.from_numpy(self._generator.random(count) < 0.5)


class DeviceDraws:
    """Numbers of a generator of the device, without a wait for the host."""

    def __init__(self, generator: torch.Generator) -> None:
        self._generator = generator

    def moves(self, pixels: int, count: int) -> tuple[Tensor, Tensor]:
        """One draw in two parts."""
        drawn = torch.randint(
            -pixels,
            pixels + 1,
            (2, 2, count, 1),
            generator=self._generator,
            device=self._generator.device,
        )
        return drawn[0], drawn[1]

    def turns(self, count: int) -> Tensor:
        """A draw of uniform numbers."""
        return torch.rand(count, generator=self._generator, device=self._generator.device) < 0.5
