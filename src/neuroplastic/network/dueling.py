"""Dueling action values: one head for the state's value, one for each action's advantage over it."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ..errors import at_least, choose
from ..fuzzy.beside import beside
from ..memory import need_memory

# Weights, their gradients and an optimizer's two moments.
_COPIES = 4

_ACTIVATIONS: tuple[type[nn.Module], ...] = (
    nn.Sigmoid,
    nn.LogSigmoid,
    nn.Hardsigmoid,
    nn.Tanh,
    nn.Tanhshrink,
    nn.Hardtanh,
    nn.ReLU,
    nn.ReLU6,
    nn.Softshrink,
    nn.Hardshrink,
    nn.GELU,
    nn.SiLU,
    nn.Mish,
    nn.SELU,
    nn.CELU,
    nn.ELU,
    nn.Softsign,
    nn.Softplus,
    nn.Hardswish,
    nn.LeakyReLU,
    nn.PReLU,
    nn.RReLU,
)
ACTIVATIONS: dict[str, type[nn.Module]] = {kind.__name__: kind for kind in _ACTIVATIONS}
"""The paper's 22 activation functions by the names it uses, each with PyTorch's defaults."""


class DuelingNetwork(nn.Module):
    """Action values `Q(s, a) = V(s) + A(s, a) - mean_a A(s, a)`, (B, actions), from observations.

    `encoder` turns observations into features (B, D); `value` (D to 1) and `advantage` (D to actions) are any
    modules, and both read all features. Centring by the mean makes value and advantage identifiable.
    """

    def __init__(self, encoder: nn.Module, value: nn.Module, advantage: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder
        self.value = value
        self.advantage = advantage

    def forward(self, observations: Tensor) -> Tensor:
        """Values of all actions, (B, actions)."""
        features = self.encoder(observations)
        begun = beside(self.advantage, features)
        value: Tensor = self.value(features)
        advantage = begun()
        return value + advantage - advantage.mean(dim=1, keepdim=True)

    def preferences(self, observations: Tensor) -> Tensor:
        """Advantages (B, actions): they order the actions like the values do, without the value head's work."""
        advantage: Tensor = self.advantage(self.encoder(observations))
        return advantage


def dnn_head(
    in_features: int,
    out_features: int,
    hidden: int,
    activation: str,
    *,
    readout: bool = True,
    bounded: bool = False,
    norm: bool = False,
) -> nn.Sequential:
    """The paper's plain network: Linear, h, Linear, h and a linear read-out to `out_features`.

    The paper names two linear layers, each followed by h. Read literally, the second would be the output and
    h would bound the action values (Hardtanh to [-1, 1], LogSigmoid to below 0); hence the read-out.
    `readout=False` gives the other reading without that bound: Linear, h, Linear; and with `bounded` the literal one:
    Linear, h, Linear, h. With `norm`, a layer norm stands before each hidden h, which learning without a target network
    needs.
    """
    at_least("hidden", hidden, 1)
    weights = hidden * (in_features + hidden + out_features)
    need_memory(
        f"a head of {hidden} hidden units",
        4 * _COPIES * weights,
        torch.get_default_device(),
        "use fewer units",
    )
    h = ACTIVATIONS[choose("activation", activation, ACTIVATIONS)]
    layers: list[nn.Module] = []
    for width in (in_features, hidden) if readout else (in_features,):
        layers += [nn.Linear(width, hidden), *([nn.LayerNorm(hidden)] if norm else []), h()]
    return nn.Sequential(*layers, nn.Linear(hidden, out_features), *([h()] if bounded else []))
