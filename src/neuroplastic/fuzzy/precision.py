"""Where single precision has too few digits."""

from __future__ import annotations

from torch import Tensor


def wide(tensor: Tensor) -> Tensor:
    """Double precision where the device has it."""
    return tensor if tensor.device.type == "mps" else tensor.double()
