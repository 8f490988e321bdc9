"""Action values of observations, and the best actions by them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ..errors import InputError
from .experience import Observations


def preferences_of(network: nn.Module) -> Callable[[Tensor], Tensor]:
    """What orders the actions at the least cost: the network's `preferences`, or else itself."""
    cheapest: Callable[[Tensor], Tensor] = getattr(network, "preferences", network)
    return cheapest


def action_values(
    network: Callable[[Tensor], Tensor], observations: Observations, actions: int, device: torch.device
) -> Tensor:
    """Values (k, actions) of observations (k, *shape), which must be as many as there are actions."""
    values = network(torch.from_numpy(observations).to(device))
    if values.shape != (len(observations), actions):
        raise InputError(
            f"the network must give {(len(observations), actions)} values, got {tuple(values.shape)}"
        )
    return values


@torch.inference_mode()
def greedy_actions(
    preferences: Callable[[Tensor], Tensor], observations: Observations, actions: int, device: torch.device
) -> NDArray[np.int64]:
    """The best actions (k,) for observations (k, *shape), by a network in evaluation mode."""
    values = action_values(preferences, observations, actions, device)
    best: NDArray[np.int64] = values.argmax(dim=1).cpu().numpy()
    return best
