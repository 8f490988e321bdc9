"""Builds the agent that a configuration describes: the paper's encoder with plain or neuro-fuzzy dueling heads."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ..doom.scenarios import scenario
from ..network.consequents import BY_NAME, Affine, ConsequentConfig, Constant, LowRank
from ..network.dueling import DuelingNetwork, dnn_head
from ..network.encoder import FEATURES, PictureEncoder
from ..network.hierarchy import Hierarchy
from ..network.nfn import NeuroFuzzyNetwork
from .configuration import DnnConfig, NfnConfig, RunConfig


def build_agent(config: RunConfig) -> DuelingNetwork:
    """The network from pictures (B, 84, 84, 3) to action values (B, actions)."""
    encoder = PictureEncoder(dropout=config.encoder.dropout, feature_norm=config.encoder.feature_norm)
    actions = scenario(config.scenario).action_count
    return DuelingNetwork(encoder, _head(config.head, 1), _head(config.head, actions))


@torch.inference_mode()
def greedy(network: DuelingNetwork, pictures: NDArray[np.uint8]) -> NDArray[np.int64]:
    """The actions (B,) that an agent takes in evaluation, for pictures (B, 84, 84, 3).

    As the learner acts: by the network's preferences, for by the values themselves a tie could be broken another way.
    """
    actions: NDArray[np.int64] = network.preferences(torch.from_numpy(pictures)).argmax(dim=1).numpy()
    return actions


def _head(config: DnnConfig | NfnConfig, outputs: int) -> nn.Module:
    if isinstance(config, DnnConfig):
        return dnn_head(FEATURES, outputs, config.hidden, config.activation, readout=config.readout)
    return Hierarchy(
        [FEATURES, *config.levels, outputs],
        config.rules,
        terms=config.terms,
        max_terms=config.max_terms,
        selection=config.selection,
        firing=config.firing,
        consequent=_consequent(config),
        neurogenesis=config.neurogenesis if config.grow else None,
        input_range=(config.input_low, config.input_high),
    )


def _consequent(config: NfnConfig) -> ConsequentConfig:
    kind = BY_NAME[config.consequent]
    if kind is LowRank:
        return LowRank(config.rank, config.consequent_init)
    if kind is Affine:
        return Affine(config.consequent_init)
    if kind is Constant:
        return Constant(config.consequent_init)
    return kind()


def neuro_fuzzy_parts(network: nn.Module) -> dict[str, NeuroFuzzyNetwork]:
    """The neuro-fuzzy networks inside a module, by their names there; empty for a plain agent."""
    return {name: part for name, part in network.named_modules() if isinstance(part, NeuroFuzzyNetwork)}


def rules_firing(network: DuelingNetwork, pictures: Tensor) -> float | None:
    """Mean number of rules that fire for a picture in a first-level network; None for a plain agent."""
    parts = [head.levels[0] for head in (network.value, network.advantage) if isinstance(head, Hierarchy)]
    if not parts:
        return None
    features = network.encoder(pictures)
    counts = [(part.firing(features) > 0).sum(dim=1).float().mean() for part in parts]
    return float(sum(counts) / len(counts))
