"""Whether what a run keeps on a GPU fits there."""

from __future__ import annotations

import torch

from ..errors import ConfigError


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
