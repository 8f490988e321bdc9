"""Whether training steps can be captured as a CUDA graph, and if not, why."""

from __future__ import annotations

from typing import NamedTuple

from torch import nn

from .antecedent import Antecedent
from .nfn import NeuroFuzzyNetwork


class Capturable(NamedTuple):
    """True where nothing stands in the way; else `reasons` name each option that needs the host in a training step."""

    reasons: tuple[str, ...]

    def __bool__(self) -> bool:
        return not self.reasons


def capturable(module: nn.Module) -> Capturable:
    """Whether a training step (forward and backward pass) of a module and all networks in it asks the host nothing.

    Then `torch.cuda.graph` can capture it, after a pass outside to warm up, and `torch.compile(module, fullgraph=True)`
    can compile it.
    """
    reasons = []
    for name, part in module.named_modules():
        found = part.waits() if isinstance(part, Antecedent) else []
        if isinstance(part, NeuroFuzzyNetwork) and part.renewing is not None:
            found.append("renewal: rules are retired and reborn by the host")
        reasons += [f"{name}: {reason}" if name else reason for reason in found]
    return Capturable(tuple(reasons))
