"""Values as a network gives them while it trains, where nothing is learned from the pass."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def values_in_training(network: nn.Module, observations: Tensor) -> Tensor:
    """Values (B, actions) of a pass in training mode without gradients; the network is left in evaluation mode.

    Dropout and noise are drawn, batch norm uses and follows this batch, and sets may be born of it. Not in inference
    mode: what the pass leaves in the network, a later one with gradients goes through.
    """
    network.train()
    try:
        with torch.no_grad():
            values: Tensor = network(observations)
    finally:
        network.eval()
    return values
