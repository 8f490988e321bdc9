"""How far sets may widen: a premise that holds of nearly every row says nothing, however well its rule then fits."""

from __future__ import annotations

import torch
from torch import Tensor

from ....fuzzy.membership import raw_from_widths
from ....network.nfn import NeuroFuzzyNetwork
from ....network.starting import HALF

# No set comes to hold of a greater part of the rows. (What covers nine tenths is called "anything" of some range.)
MOST = 0.85
# So many rows are enough to tell what a set covers.
ENOUGH = 500


class Widest:
    """The limits of a network's sets: none comes to hold of more than `MOST` of the rows x (N, D), or, where it does so
    from the beginning, as where most rows have one value, of more than it did then."""

    def __init__(self, net: NeuroFuzzyNetwork, x: Tensor) -> None:
        self.x = x[:: max(1, len(x) // ENOUGH)]
        away = (self.x[:, :, None] - net.centers.detach()).abs()
        held = (away <= HALF * net.widths.detach()).sum(dim=0)
        self.most = held.clamp_min(int(MOST * len(self.x)))

    @torch.no_grad()
    def enforce(self, net: NeuroFuzzyNetwork) -> None:
        """Narrow sets that reach too far, in place, to midway between the last row they may hold of and the next."""
        d, t = torch.nonzero(net.antecedent.covering_mask, as_tuple=True)
        away = (self.x[:, d] - net.centers[d, t]).abs().sort(dim=0).values
        away = torch.cat([away, torch.full_like(away[:1], torch.inf)])
        beyond = away.gather(0, self.most[d, t][None])
        within = away.where(away < beyond, 0.0).amax(dim=0)
        reach = (within + beyond[0]) / 2
        raw = net.antecedent.raw_widths.data
        raw[d, t] = torch.minimum(raw[d, t], raw_from_widths(reach / HALF).to(raw))
