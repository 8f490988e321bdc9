"""Which rule leads: the one that fires most on a row."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..network.nfn import NeuroFuzzyNetwork
from .networks import evaluating, rows_of

# Up to this factor numbers are equal: rounding does not decide who leads, fits or moves.
ROUNDING = 1e-6
# A large batch goes through in parts of about so many numbers.
NUMBERS_AT_ONCE = 1 << 22


def leaders_of(net: NeuroFuzzyNetwork, data: Any) -> NDArray[np.int64]:
    """The rule that leads on each row of data (B, D) as the network sees it, (B,), in evaluation mode."""
    with evaluating(net), torch.no_grad():
        found = [leader(net.firing(part).cpu().double()) for part in parts(rows_of(data, net), net)]
    return torch.cat(found).numpy()


def leader(firing: Tensor) -> Tensor:
    """The rule that fires most on each row, (B,); the first of those that tie but for rounding."""
    top = firing.amax(dim=1, keepdim=True)
    return (firing >= top * (1 - ROUNDING)).int().argmax(dim=1)


def parts(x: Tensor, net: NeuroFuzzyNetwork) -> Iterable[Tensor]:
    """The rows, so many at once that what is made of them stays small."""
    widest = max(net.in_features, net.rules * net.out_features)
    return torch.split(x, max(1, NUMBERS_AT_ONCE // widest))
