"""The agent of a configuration, an encoder with plain or neuro-fuzzy dueling heads: built, and looked at."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from .. import catalog
from ..errors import ConfigError
from ..learn.experience import Observations
from ..network.dueling import DuelingNetwork
from ..network.hierarchy import Hierarchy
from ..network.nfn import NeuroFuzzyNetwork
from ..rules.diagnosing import diagnose
from ..rules.diagnosis import Diagnosis
from .configuration import RunConfig
from .options import options


def build_agent(config: RunConfig) -> DuelingNetwork:
    """The network from observations (B, *shape) to action values (B, actions)."""
    task = config.task
    encoder = config.encoder.build(task.observation)
    features = int(encoder.out_features)  # type: ignore[arg-type]
    return DuelingNetwork(
        encoder, config.head.build_value(features), config.head.build(features, len(task.actions))
    )


def check_same_build(ours: RunConfig, theirs: RunConfig, their_network: DuelingNetwork) -> None:
    """Raise a ConfigError, which names the fields that differ, unless another's tensors fit the agent of `ours`."""
    shapes = [
        {
            name: tensor.shape
            for name, tensor in network.state_dict().items()
            if not name.endswith("_extra_state")
        }
        for network in (build_agent(ours), their_network)
    ]
    if shapes[0] != shapes[1]:
        raise ConfigError(f"the agents are built otherwise: {_differences(ours, theirs)}")


def _differences(ours: RunConfig, theirs: RunConfig) -> str:
    """How two agents differ, field by field."""
    pairs = [
        ("task", ours.task.key, theirs.task.key),
        ("agent", ours.agent, theirs.agent),
        ("encoder", *(catalog.name_of("encoder", config.encoder) for config in (ours, theirs))),
        ("actions", len(ours.task.actions), len(theirs.task.actions)),
        ("observation", ours.task.observation.shape, theirs.task.observation.shape),
    ]
    told = [f"{name} {there} there, {here} here" for name, here, there in pairs if here != there]
    for part in ("encoder", "head"):
        mine = {option.name: option.value for option in options(getattr(ours, part))}
        for option in options(getattr(theirs, part)):
            if option.name in mine and mine[option.name] != option.value:
                told.append(f"{option.name} {option.value} there, {mine[option.name]} here")
    return "; ".join(told) or "their tensors have other names or shapes"


@torch.inference_mode()
def greedy(network: DuelingNetwork, observations: Observations) -> NDArray[np.int64]:
    """The actions (B,) that an agent takes in evaluation, for observations (B, *shape).

    As the learner acts: by the network's preferences, for by the values themselves a tie could be broken another way.
    """
    device = next(network.parameters()).device
    preferences = network.preferences(torch.from_numpy(observations).to(device))
    actions: NDArray[np.int64] = preferences.argmax(dim=1).cpu().numpy()
    return actions


def neuro_fuzzy_parts(network: nn.Module) -> dict[str, NeuroFuzzyNetwork]:
    """The neuro-fuzzy networks inside a module, by their names there; empty for a plain agent."""
    return {name: part for name, part in network.named_modules() if isinstance(part, NeuroFuzzyNetwork)}


def rules_firing(network: DuelingNetwork, observations: Tensor) -> float | None:
    """Mean number of rules that fire for an observation in a first-level network; None for a plain agent."""
    parts = [head.levels[0] for head in (network.value, network.advantage) if isinstance(head, Hierarchy)]
    if not parts:
        return None
    features = network.encoder(observations)
    counts = [(part.firing(features) > 0).sum(dim=1).float().mean() for part in parts]
    return float(sum(counts) / len(counts))


def diagnosis_of(network: nn.Module, observations: Tensor | Observations) -> Diagnosis | None:
    """Whether the rules of an agent decide on observations (B, *shape); None for an agent without rules."""
    if not isinstance(network, DuelingNetwork):
        return None
    fuzzy = isinstance(network.advantage, Hierarchy | NeuroFuzzyNetwork)
    return diagnose(network, observations) if fuzzy else None
