"""What a network does around `state_dict` and `load_state_dict`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from .nfn import NeuroFuzzyNetwork


def register(net: NeuroFuzzyNetwork) -> None:
    """Have frozen entries put back before the state is read, and made anew of what is loaded."""
    net.register_state_dict_pre_hook(_before_saving)  # type: ignore[no-untyped-call]
    net.register_load_state_dict_pre_hook(_before_loading)  # type: ignore[no-untyped-call]
    net.register_load_state_dict_post_hook(_after_loading)  # type: ignore[no-untyped-call]


def _before_saving(net: NeuroFuzzyNetwork, prefix: str, keep_vars: bool) -> None:
    net._restore()


@torch.no_grad()
def _own_memory(net: NeuroFuzzyNetwork) -> None:
    """Undo what `load_state_dict(assign=True)` may bring in: entries that share memory, which no birth or optimizer
    could write to, and a mask that is not one."""
    for tensor in (*net.parameters(), *net.buffers()):
        if not tensor.is_contiguous():
            tensor.data = tensor.data.contiguous()
    net.antecedent.term_mask = net.antecedent.term_mask.bool()
    net.antecedent.growth.to(net.antecedent.term_mask.device)


def _before_loading(net: NeuroFuzzyNetwork, *state: object) -> None:
    net.antecedent.frozen = None  # else what was kept would be put back over what is loaded


def _after_loading(net: NeuroFuzzyNetwork, incompatible_keys: object) -> None:
    _own_memory(net)
    net._refreeze()
