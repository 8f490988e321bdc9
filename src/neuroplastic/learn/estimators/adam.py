"""Adam over the parameters of one network, at the price of its arithmetic."""

from __future__ import annotations

import torch
from torch import Tensor

from ...network.nfn import NeuroFuzzyNetwork

BETAS, EPSILON = (0.9, 0.99), 1e-8
# A rule that changes its premise leaves its consequent in the wrong place, so premises change slowly.
PREMISE_PACE = 0.3


class Adam:
    """Adam over all of a network's parameters; premises and sets take smaller steps than consequents.

    The arithmetic is that of `torch.optim.Adam(fused=True)`, whose bookkeeping takes longer than that.
    """

    def __init__(self, net: NeuroFuzzyNetwork) -> None:
        consequents: list[Tensor] = [net.weight, net.bias]
        others = [own for own in net.parameters() if all(own is not consequent for consequent in consequents)]
        self.parameters = consequents + [own for own in others if own.requires_grad]
        self._first, self._second = ([torch.zeros_like(own) for own in self.parameters] for _ in range(2))
        self._steps = torch.zeros(())
        self._groups = ((slice(0, 2), 1.0), (slice(2, None), PREMISE_PACE))

    @torch.no_grad()
    def step(self, gradients: tuple[Tensor, ...], size: float) -> None:
        """Move the parameters against their gradients; `size` is the step size of the consequents."""
        self._steps += 1
        for group, pace in self._groups:
            moved = self.parameters[group]
            torch._fused_adam_(
                moved,
                gradients[group],
                self._first[group],
                self._second[group],
                [],
                [self._steps] * len(moved),
                lr=size * pace,
                beta1=BETAS[0],
                beta2=BETAS[1],
                weight_decay=0.0,
                eps=EPSILON,
                amsgrad=False,
                maximize=False,
            )
