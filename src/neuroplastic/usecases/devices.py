"""Where a run computes: a device that is there, and a number of threads that pays."""

from __future__ import annotations

import torch

from ..errors import ConfigError


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
