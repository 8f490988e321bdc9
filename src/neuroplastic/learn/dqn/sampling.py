"""Where transitions are kept, on the host or on a device, and how they are drawn from there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from ..seeding import RandomStreams
from .device_replay import DeviceReplay
from .draws import DeviceDraws, Draws, HostDraws
from .replay import Batch, ReplayMemory

if TYPE_CHECKING:
    from .config import QConfig


def memory_for(
    config: QConfig, streams: RandomStreams, device: torch.device, *, resident: bool
) -> ReplayMemory:
    """An empty memory: on the device where it is to be `resident`, else on the host."""
    if not resident:
        return ReplayMemory(config.memory_size, n_step=config.n_step, discount=config.discount)
    return DeviceReplay(
        config.memory_size,
        n_step=config.n_step,
        discount=config.discount,
        device=device,
        generator=streams.on_device(device),
    )


def sampled(
    memory: ReplayMemory, count: int, streams: RandomStreams, device: torch.device
) -> tuple[Batch, Draws]:
    """That many transitions on the device, and where the random numbers come from that they may be changed by."""
    if isinstance(memory, DeviceReplay):
        return memory.draw(count), DeviceDraws(streams.on_device(device))
    batch = memory.sample(count, streams.replay)
    return Batch(*(tensor.to(device, non_blocking=True) for tensor in batch)), HostDraws(streams.replay)
