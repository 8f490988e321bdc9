"""A network as the rules see it: its levels, rows it takes, its answers in evaluation, its numbers in doubles."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ..errors import InputError
from ..fuzzy.firing import MOST_GAIN, Firing
from ..network.hierarchy import Hierarchy
from ..network.inputs import check_input
from ..network.nfn import NeuroFuzzyNetwork
from .estimators import not_a_network
from .rule_base import Numbers


def levels_of(net: NeuroFuzzyNetwork | Hierarchy) -> tuple[NeuroFuzzyNetwork, ...]:
    """The levels of a hierarchy, the first one first; a network is its own only level."""
    if isinstance(net, Hierarchy):
        return tuple(net.levels)
    if isinstance(net, NeuroFuzzyNetwork):
        return (net,)
    raise not_a_network(net)


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


@contextmanager
def evaluating(net: nn.Module) -> Iterator[None]:
    """Evaluation mode for a while; every part then has its own mode again."""
    modes = [(part, part.training) for part in net.modules()]
    net.eval()
    try:
        yield
    finally:
        for part, training in modes:
            part.training = training


def said(net: NeuroFuzzyNetwork | Hierarchy, x: Tensor) -> Tensor:
    """The output (B, O) for x (B, D) as in evaluation, without gradients; the network's mode stays."""
    with evaluating(net), torch.no_grad():
        output: Tensor = net(x)
    return output


def numbers(tensor: Tensor) -> Numbers:
    """A tensor's values in double precision, apart from it."""
    values: Numbers = tensor.detach().to("cpu", torch.float64).numpy().copy()
    return values


def alpha_of(net: NeuroFuzzyNetwork) -> float:
    """The alpha of the network's entmax as a number; a learned one is read off."""
    return float(net.alpha.detach()) if isinstance(net.alpha, Tensor) else net.alpha


def firing_of(net: NeuroFuzzyNetwork) -> Firing:
    """How the network makes firing levels, with what it learned as numbers: alpha, the gain of 'scaled' and 'worst'."""
    firing = replace(net.firing_config, alpha=alpha_of(net))
    if net.gain is None:
        return firing
    # Rounding may have taken a gain at its bound just beyond it.
    return replace(firing, gain=min(max(float(net.gain.detach()), 1 / MOST_GAIN), MOST_GAIN))
