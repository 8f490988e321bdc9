"""Networks that are wrapped: whose replicas a network has, and what sharing and averaging it refuse."""

from __future__ import annotations

import sys
import weakref
from typing import TYPE_CHECKING

import torch
from torch import nn
from torch.nn.modules.module import register_module_module_registration_hook
from torch.nn.parallel import DistributedDataParallel
from torch.optim.swa_utils import AveragedModel

from ..errors import ConfigError
from ..fuzzy.welford import Moments

if TYPE_CHECKING:
    from .antecedent import Antecedent

_WRAPPERS: weakref.WeakKeyDictionary[nn.Module, weakref.ref[nn.Module]] = weakref.WeakKeyDictionary()
"""The wrapper around each module that has one: a wrapped module that is called directly cannot ask who wraps it."""

_SHARDING = ("FSDPModule", "FullyShardedDataParallel")


def _note_wrapper(wrapper: nn.Module, name: str, module: nn.Module | None) -> None:
    if name == "module" and module is not None and isinstance(wrapper, DistributedDataParallel):
        for part in module.modules():
            _WRAPPERS[part] = weakref.ref(wrapper)
    if name == "module" and module is not None and isinstance(wrapper, AveragedModel):
        _refuse_averaged_buffers(module)


def _refuse_averaged_buffers(module: nn.Module) -> None:
    """Raise a ConfigError where buffers are to be averaged: which sets exist and what was counted has no average.

    PyTorch's own average ends in an error at the first update, an exponential one mixes counters in silence. What the
    wrapper was asked for stands in the frame of its constructor, which is at work, and nowhere else yet.
    """
    from .antecedent import Antecedent

    frame = sys._getframe()
    while frame.f_back is not None and frame.f_code is not AveragedModel.__init__.__code__:
        frame = frame.f_back
    averages = frame.f_code is AveragedModel.__init__.__code__ and frame.f_locals.get("use_buffers")
    if averages and any(isinstance(part, Antecedent) for part in module.modules()):
        raise ConfigError(
            "AveragedModel(use_buffers=True) would average which fuzzy sets exist and what was counted; leave "
            "use_buffers out: parameters are averaged, and buffers are the network's"
        )


register_module_module_registration_hook(_note_wrapper)


def data_parallel_group(part: nn.Module | None = None) -> torch.distributed.ProcessGroup | None:
    """The process group of the DistributedDataParallel wrapper whose forward pass is running, or else around `part`.

    So the replicas of a network agree on births also where the wrapped module is called directly, and all call it.
    """
    if not (torch.distributed.is_available() and torch.distributed.is_initialized()):
        return None
    wrapper = getattr(DistributedDataParallel, "_active_ddp_module", None)
    if wrapper is None and part is not None and part in _WRAPPERS:
        wrapper = _WRAPPERS[part]()
    return None if wrapper is None else wrapper.process_group


def merged_over(group: torch.distributed.ProcessGroup, moments: Moments) -> Moments:
    """Moments over the replicas of a data-parallel network, so that all of them bear the same sets."""
    local = torch.stack(moments)
    everywhere = [torch.empty_like(local) for _ in range(torch.distributed.get_world_size(group))]
    torch.distributed.all_gather(everywhere, local, group=group)
    merged = Moments(*everywhere[0])
    for other in everywhere[1:]:
        merged = merged.merged(Moments(*other))
    return merged


def refuse_sharding(antecedent: Antecedent) -> None:
    """Raise a ConfigError where the parameters of a growing network are sharded: a birth would be lost with the
    gathered copy that it is written to."""
    if not (torch.distributed.is_available() and torch.distributed.is_initialized()):
        return
    for root in _sharded_roots():
        if any(part is antecedent for part in root.modules()):
            raise ConfigError(
                "a network whose fuzzy sets are born cannot be sharded (fully_shard): births would be lost; use "
                "DistributedDataParallel, or build it with neurogenesis=None"
            )


def _sharded_roots() -> list[nn.Module]:
    """Modules whose parameters are sharded, by either of torch's ways."""
    from torch.distributed import _composable_state

    mapping = getattr(_composable_state, "_module_state_mapping", {})
    return [
        module for module in list(mapping) if any(kind.__name__ in _SHARDING for kind in type(module).__mro__)
    ]
