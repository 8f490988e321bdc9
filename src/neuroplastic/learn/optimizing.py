"""One step down the gradient of a loss, and the state of an optimizer in the form that checkpoints hold."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.optim import Optimizer

LOSSES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "mse": functional.mse_loss,
    "huber": functional.huber_loss,
}
"""By name: the mean over a batch of how far values are from their targets."""


def descend(optimizer: Optimizer, loss: Tensor, *, clip_norm: float | None) -> None:
    """Change the parameters by the gradient of the loss, whose norm is clipped first."""
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    if clip_norm is not None:
        nn.utils.clip_grad_norm_(parameters, clip_norm)
    optimizer.step()
    # Fused optimizers change parameters without saying so; what a network keeps for evaluation needs it.
    for parameter in parameters:
        torch.autograd.graph.increment_version(parameter)


def set_learning_rate(optimizer: Optimizer, learning_rate: float) -> None:
    """Give every group of parameters its own part of the rate: see `parameter_groups`."""
    for group in optimizer.param_groups:
        group["lr"] = learning_rate * group.get("rate", 1.0)


def optimizer_state(optimizer: Optimizer) -> dict[str, Any]:
    """The optimizer's state with names for keys, as JSON wants them."""
    state = optimizer.state_dict()
    moments = {str(index): entry for index, entry in state["state"].items()}
    return {"param_groups": state["param_groups"], "state": moments}


def load_optimizer_state(optimizer: Optimizer, saved: Mapping[str, Any]) -> None:
    """Put back what `optimizer_state` gave."""
    # The optimizer would share the given tensors and change them.
    moments = {int(index): copy.deepcopy(entry) for index, entry in saved["state"].items()}
    optimizer.load_state_dict({"param_groups": saved["param_groups"], "state": moments})
