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

# What says how an optimizer computes, and not what: it depends on the device.
_COMPUTED = ("capturable", "foreach", "fused")


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
        rate = learning_rate * group.get("rate", 1.0)
        if isinstance(group["lr"], Tensor):  # of an optimizer that is recorded: the tensor must stay
            group["lr"].fill_(rate)
        else:
            group["lr"] = rate


def hold_learning_rate(optimizer: Optimizer, device: torch.device) -> None:
    """Keep every group's rate in a tensor on the device, as an optimizer needs it that a CUDA graph replays."""
    for group in optimizer.param_groups:
        group["lr"] = torch.tensor(float(group["lr"]), device=device)


def optimizer_state(optimizer: Optimizer) -> dict[str, Any]:
    """The optimizer's state with names for keys, as JSON wants them."""
    state = optimizer.state_dict()
    moments = {str(index): entry for index, entry in state["state"].items()}
    groups = [{**group, "lr": float(group["lr"])} for group in state["param_groups"]]
    return {"param_groups": groups, "state": moments}


def load_optimizer_state(optimizer: Optimizer, saved: Mapping[str, Any]) -> None:
    """Put back what `optimizer_state` gave; how the optimizer computes stays its own."""
    rates = [group["lr"] for group in optimizer.param_groups]
    own = [{name: group[name] for name in _COMPUTED if name in group} for group in optimizer.param_groups]
    groups = [{**group, **kept} for group, kept in zip(saved["param_groups"], own, strict=True)]
    # The optimizer would share the given tensors and change them.
    moments = {int(index): copy.deepcopy(entry) for index, entry in saved["state"].items()}
    optimizer.load_state_dict({"param_groups": groups, "state": moments})
    for group, rate in zip(optimizer.param_groups, rates, strict=True):
        if isinstance(rate, Tensor):
            group["lr"] = rate.fill_(float(group["lr"]))
