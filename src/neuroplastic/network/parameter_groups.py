"""Parameters by how fast they should learn: conclusions fast, structure slowly."""

from __future__ import annotations

from typing import Any

from torch import nn

from ..errors import within
from .nfn import NeuroFuzzyNetwork


def parameter_groups(module: nn.Module, lr: float, *, structure_rate: float = 0.1) -> list[dict[str, Any]]:
    """Groups for an optimizer: what rules conclude learns at `lr`, all else, also a gain, at `structure_rate * lr`.

    A rule whose premises, or the encoder in front of them, change as fast as its conclusion never concludes anything:
    what it learned was about other cases. Where there are no rules inside the module, everything learns at `lr`.

    >>> import torch
    >>> import neuroplastic as npl
    >>> net = npl.NeuroFuzzyNetwork(4, 3, rules=8, consequent="constant")
    >>> optimizer = torch.optim.Adam(npl.parameter_groups(net, lr=0.02))
    >>> conclusions, others = optimizer.param_groups
    >>> conclusions["lr"], others["lr"]
    (0.02, 0.002)
    """
    within("lr", lr, 0, open_low=True)
    within("structure_rate", structure_rate, 0, open_low=True)
    networks = [part for part in module.modules() if isinstance(part, NeuroFuzzyNetwork)]
    fast = {id(parameter) for network in networks for parameter in network.consequent.parameters()}
    concluded = [parameter for parameter in module.parameters() if id(parameter) in fast]
    others = [parameter for parameter in module.parameters() if id(parameter) not in fast]
    if not concluded or structure_rate == 1:
        return [{"params": list(module.parameters()), "lr": lr, "rate": 1.0}]
    groups = [{"params": concluded, "lr": lr, "rate": 1.0}]
    return groups + (
        [{"params": others, "lr": structure_rate * lr, "rate": structure_rate}] if others else []
    )
