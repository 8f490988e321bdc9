"""How many rules share a decision: so few that a person can follow it."""

from __future__ import annotations

import math

import numpy as np
import torch

from ....network.nfn import NeuroFuzzyNetwork
from ..rows import Numbers, Rows
from .draft import Draft

# On average over the rows so many rules may hold this share of the firing. Where every column counts a little, more
# rules that share a decision are worth points; on most tables fewer do so anyway, 3 on average.
MOST_SHARING, SHARE = 4.0, 0.95
# The gain is raised by this factor until they do, so often at most.
STEP, STEPS = 1.05, 40


@torch.no_grad()
def let_few_decide(net: NeuroFuzzyNetwork, rows: Rows) -> None:
    """Raise the gain of a network until few rules share a decision: those that fit best then fire the more.

    Nothing else changes: neither the rules nor, where rules fit equally well, what they say together.
    """
    if net.gain is None or net.log_gain is None:
        return
    worst = Draft.of(net).worst_distances(rows.x)
    for _ in range(STEPS):
        if sharing(worst, float(net.gain), rows.weight) <= MOST_SHARING:
            return
        net.log_gain.add_(math.log(STEP))


def sharing(distances: Numbers, gain: float, weight: Numbers) -> float:
    """The fewest rules that hold most of the firing, their mean over rows with these distances (B, U)."""
    firing = np.exp(-gain * (distances - distances.min(axis=1, keepdims=True)))
    shares = -np.sort(-firing / firing.sum(axis=1, keepdims=True), axis=1)
    counts = 1 + (shares.cumsum(axis=1) < SHARE)[:, :-1].sum(axis=1)
    return float(counts @ weight / weight.sum())
