"""How much memory there is, the refusal of what would not fit, and what becomes of memory that is freed."""

from __future__ import annotations

import ctypes
import gc
import os
from contextlib import suppress
from pathlib import Path

import torch

from .errors import ConfigError

# Where Linux says what a container may use, in its two generations of control groups.
_CONTAINERS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
# No tensor can have more bytes, not even one without memory.
_MOST = 2**62
# Options of glibc's `mallopt`, and the size up to which it keeps what is freed.
_TRIM_THRESHOLD, _MAP_THRESHOLD, _KEPT = -1, -3, 1 << 30


def memory_of(device: torch.device) -> int | None:
    """Bytes of memory that tensors on a device may use at most; None where that cannot be told.

    Of the machine: what is built in, or what the container or the process may use of it, if that is less.
    """
    if device.type == "meta":
        return _MOST
    if device.type == "cuda":
        return int(torch.cuda.get_device_properties(device).total_memory)
    return _machine_memory() if device.type == "cpu" else None


def need_memory(what: str, needed: int, device: torch.device, fix: str) -> None:
    """Raise a ConfigError, with the figures, where a device does not have the bytes that something needs."""
    there = memory_of(device)
    if there is None or needed <= there:
        return
    where = {"cpu": "this machine has", "meta": "the most is"}.get(device.type, f"{device} has")
    raise ConfigError(f"{what} would need {in_words(needed)}, {where} {in_words(there)}; {fix}")


def keep_freed_memory() -> bool:
    """Have this process keep freed memory for what it needs next; False where the C library is not glibc.

    By itself glibc gives large pieces back, and the system fills each new one with zeros, page by page: of an update of
    the picture agents on a CPU that was a tenth.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return all(mallopt(option, _KEPT) for option in (_MAP_THRESHOLD, _TRIM_THRESHOLD))


def free_what_is_left() -> None:
    """Free what earlier work of this process left behind in reference cycles, and on a GPU let others have it.

    Python looks for cycles when it has made many objects, however large they are: a run's memory on a GPU is a few.
    """
    gc.collect()
    torch.cuda.empty_cache()  # without a GPU, or before its first use, this does nothing


def in_words(count: int) -> str:
    """A number of bytes as people read it: 412 GB."""
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if count < 1000:
            return f"{count} {unit}"
        count = (count + 500) // 1000
    return f"{count} PB" if count < 10**6 else "more than a million PB"


def _machine_memory() -> int | None:
    limits = []
    with suppress(AttributeError, ValueError, OSError):  # not every system can be asked
        limits.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for place in _CONTAINERS:
        with suppress(ValueError, OSError):  # "max", or no such file
            limits.append(int(Path(place).read_text(encoding="ascii")))
    with suppress(ImportError, OSError):
        import resource

        limits.append(resource.getrlimit(resource.RLIMIT_AS)[0])
    return min((limit for limit in limits if limit > 0), default=None)
