"""A copy of a network that follows it, on the device alone: what checkpoints write as JSON is handed on as it lies."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .antecedent import Antecedent


def can_follow(module: nn.Module) -> bool:
    """Whether `follow` knows all that the module's parts remember beside their tensors.

    It knows an antecedent in which nothing is frozen; rules that are renewed keep records that it does not know.
    """
    return all(
        part.frozen is None if isinstance(part, Antecedent) else not _remembers(part)
        for part in module.modules()
    )


def _remembers(part: nn.Module) -> bool:
    return type(part).get_extra_state is not nn.Module.get_extra_state


@torch.no_grad()
def follow(copy: nn.Module, original: nn.Module, rate: float) -> None:
    """Move a copy's parameters `rate` of the way to the original's; all else becomes as it is there.

    Equal to loading the original's state, for modules that `can_follow`, without a wait for a GPU: births that nobody
    has read are handed on unread.
    """
    mine: list[Tensor] = [*copy.parameters()]
    theirs: list[Tensor] = [*original.parameters()]
    if rate < 1:
        torch._foreach_lerp_(mine, theirs, rate)
    else:
        _copy(mine, theirs)
    _copy(list(copy.buffers()), list(original.buffers()))
    for part, known in zip(copy.modules(), original.modules(), strict=True):
        if isinstance(part, Antecedent) and isinstance(known, Antecedent):
            part.take_records(known)


@torch.no_grad()
def come_after(copy: nn.Module, original: nn.Module, rate: float) -> None:
    """The same for any module: by `follow` where that can be, else by the original's whole state."""
    if can_follow(original):
        follow(copy, original, rate)
        return
    state = original.state_dict()
    if rate < 1:
        for mine, theirs in zip(copy.parameters(), original.parameters(), strict=True):
            mine.lerp_(theirs, rate)
        state.update(copy.named_parameters(remove_duplicate=False))
    copy.load_state_dict(state)


def _copy(mine: list[Tensor], theirs: list[Tensor]) -> None:
    if mine:
        torch._foreach_copy_(mine, theirs)
