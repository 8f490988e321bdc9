"""Data as rows that a network takes."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..errors import InputError
from ..network.antecedent import check_input
from ..network.hierarchy import Hierarchy
from ..network.nfn import NeuroFuzzyNetwork


def rows_of(data: Any, net: NeuroFuzzyNetwork) -> Tensor:
    """Data (B, D), a tensor or whatever NumPy can read, with the network's type and device; refuses no rows."""
    if not isinstance(data, Tensor):
        try:
            data = torch.from_numpy(np.array(data, dtype=np.float64))
        except (TypeError, ValueError) as error:
            raise InputError(
                f"data must be a table of numbers, got {type(data).__name__}: {error}"
            ) from error
    x: Tensor = data.detach().to(net.centers)
    check_input(x, net.in_features)
    if not len(x):
        raise InputError("data must have at least one row")
    return x


@torch.no_grad()
def said(net: NeuroFuzzyNetwork | Hierarchy, x: Tensor) -> Tensor:
    """The output as in evaluation; the network's mode stays."""
    training = net.training
    net.eval()
    try:
        output: Tensor = net(x)
    finally:
        net.train(training)
    return output
