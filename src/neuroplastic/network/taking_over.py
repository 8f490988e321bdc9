"""A network takes over the tensors of a file, once it is sure that they are its own and that it can compute with them.

It is built on the meta device, where tensors have a shape and a type but no memory. So nothing is allocated for what
a file merely claims: every number that the network gets lies in the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import torch
from torch import Tensor, nn

from ..decoding import shown
from ..errors import ConfigError
from ..fuzzy.membership import input_limit
from .antecedent import Antecedent
from .keeping import keeping

Network = TypeVar("Network", bound=nn.Module)

# The layer norm squares log-firings in double precision, after a gain of up to 1e8.
LEAST_LOG_FIRING = 1e142

_EXTRA = "_extra_state"


@keeping()
def take_over(net: Network, tensors: Mapping[str, Tensor]) -> Network:
    """Give a network without memory the tensors of these names; a ConfigError names the first that does not fit."""
    wanted: dict[str, Tensor] = net.state_dict()
    for name in wanted.keys() - tensors.keys():
        raise ConfigError(f"the tensor {name} is missing")
    for name in tensors.keys() - wanted.keys():
        raise ConfigError(f"there is a tensor {shown(name)} that is not the network's")
    for name, tensor in tensors.items():
        if not name.endswith(_EXTRA):
            check_form(name, tensor, wanted[name])
    owned = {name: _owned(name, tensor, wanted[name]) for name, tensor in tensors.items()}
    net.load_state_dict(owned, assign=True)
    check_sets(net)
    return net


def check_form(name: str, tensor: Tensor, wanted: Tensor) -> None:
    """Raise a ConfigError unless a tensor has the shape and, up to the precision of floating point, the type wanted."""
    if tensor.shape != wanted.shape:
        raise ConfigError(
            f"the tensor {name} must have shape {tuple(wanted.shape)}, got {tuple(tensor.shape)}"
        )
    real = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
    if tensor.dtype != wanted.dtype and not (tensor.dtype in real and wanted.dtype in real):
        raise ConfigError(f"the tensor {name} must be {_word(wanted.dtype)}, got {_word(tensor.dtype)}")


def check_finite(name: str, tensor: Tensor) -> None:
    """Raise a ConfigError where a tensor holds a NaN or an infinity; a set that means "any" has a finite width."""
    if not tensor.is_floating_point() or bool(torch.isfinite(tensor).all()):
        return
    place = (~torch.isfinite(tensor)).nonzero()[0].tolist()
    raise ConfigError(f"the tensor {name} must be finite, got {float(tensor[tuple(place)])} at {place}")


def _owned(name: str, tensor: Tensor, wanted: Tensor) -> Tensor:
    """A copy in memory of its own, which is aligned and does not change with the file; refused if not finite."""
    if name.endswith(_EXTRA):
        return tensor
    if tensor.dtype == torch.bool and bool((tensor.view(torch.uint8) > 1).any()):
        raise ConfigError(f"the tensor {name} holds truth values that are neither 0 nor 1")
    owned = tensor.to(wanted.dtype, copy=True, memory_format=torch.contiguous_format)
    check_finite(name, owned)
    return owned


@torch.no_grad()
def check_sets(net: nn.Module) -> None:
    """Raise a ConfigError unless every antecedent has sets that firing levels can be computed with, for any input."""
    for name, part in net.named_modules():
        if not isinstance(part, Antecedent):
            continue
        if not bool(part.term_mask.any(dim=1).all()):
            raise ConfigError(f"{name}.term_mask must leave every attribute at least one set")
        if bool((part.statistics.count < 0).any() or (part.statistics.m2 < 0).any()):
            raise ConfigError(f"{name}.statistics must not be negative")
        frozen = torch.tensor(part.wish.sets, dtype=torch.int64).reshape(-1, 2)
        if not bool(part.term_mask[frozen[:, 0], frozen[:, 1]].all()):
            raise ConfigError(f"{name}: frozen sets must exist")
        if not _least_log_firing(part) > -LEAST_LOG_FIRING:
            raise ConfigError(
                f"{name}: sets lie too far out, or are too narrow, for firing levels to be computed"
            )


def _least_log_firing(part: Antecedent) -> float:
    """The log-firing (Eq. 6) of a rule that has the farthest set of every attribute, at the farthest input."""
    precisions = part.precisions()
    away = part.centers.to(precisions.dtype).abs() + input_limit(precisions.dtype)
    farthest = (away.square() * precisions).masked_fill(~part.term_mask, 0.0).amax(dim=1)
    return -float(farthest.sum())


def _word(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
