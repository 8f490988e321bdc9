"""Whether what a run keeps on a GPU fits there."""

from __future__ import annotations

import math
from typing import Any

import torch

from ..errors import ConfigError
from ..network.observation import Observation


def free_bytes(device: torch.device) -> int | None:
    """Memory of a GPU that this process could still use; None for a CPU, whose system answers for it."""
    if device.type != "cuda":
        return None
    free, _ = torch.cuda.mem_get_info(device)
    kept_by_torch = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return int(free) + int(kept_by_torch)


def check_room(device: torch.device, needed: int, what: str, option: str) -> None:
    """Raise a ConfigError unless so many bytes are free; `option` is what makes it smaller."""
    free = free_bytes(device)
    if free is not None and needed > free:
        raise ConfigError(
            f"{what} needs {needed / 1e9:.1f} GB on {device}, and {free / 1e9:.1f} GB are free there; choose a "
            f"smaller {option}, or --device cpu"
        )


def observation_bytes(observation: Observation) -> int:
    """Of one observation as it is kept: a byte for each value of a picture, four for each attribute of a vector."""
    return math.prod(observation.shape) * (1 if observation.is_picture else 4)


def learner_bytes(config: Any, observation: Observation) -> int:
    """What a learner of that configuration keeps of observations on its device; 0 where it does not say."""
    told = getattr(config, "kept_bytes", None)
    return 0 if told is None else int(told(observation))
