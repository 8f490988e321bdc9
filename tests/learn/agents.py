"""Agents for the tests that learn, and the run that trains one on the tiny game of `Catch`."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
from torch import nn

from neuroplastic import Affine, Firing, NeuroFuzzyNetwork, Neurogenesis, Selection
from neuroplastic.learn import QConfig, QLearning, RandomStreams
from neuroplastic.network.dueling import DuelingNetwork, dnn_head
from neuroplastic.network.encoder import PictureEncoder
from tests.learn.catch import Catch
from tests.learn.loop import Loop

MakeNetwork = Callable[[int], nn.Module]
"""Number of actions to a network from pictures (B, 84, 84, 3) to action values (B, actions)."""

CATCH_CONFIG = QConfig(
    learning_rate=1e-3,
    batch_size=16,
    memory_size=2000,
    discount=0.9,
    loss="huber",
    target_every=10,
    exploration_decay=0.99,
)


def dnn_network(actions: int) -> nn.Module:
    return DuelingNetwork(
        PictureEncoder(dropout=0.0, feature_norm=True),
        dnn_head(1600, 1, 64, "ReLU"),
        dnn_head(1600, actions, 64, "ReLU"),
    )


class SmallEncoder(nn.Module):
    """Features (B, 128) of pictures (B, 84, 84, 3): one convolution over every seventh pixel. For speed.

    The squares of `Catch` are 21 pixels wide: no square is missed.
    """

    def __init__(self) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(3, 8, kernel_size=3, stride=3, bias=False)
        self.norm = nn.BatchNorm2d(8)
        self.feature_norm = nn.LayerNorm(128)

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        seen = pictures[:, 3::7, 3::7].permute(0, 3, 1, 2).float() / 255
        features: torch.Tensor = self.feature_norm(self.norm(self.convolution(seen)).relu().flatten(1))
        return features


def small_dnn_network(actions: int) -> nn.Module:
    value, advantage = (dnn_head(128, outputs, 64, "ReLU") for outputs in (1, actions))
    return DuelingNetwork(SmallEncoder(), value, advantage)


def nfn_head(in_features: int, out_features: int, rules: int, *, grow: bool) -> NeuroFuzzyNetwork:
    return NeuroFuzzyNetwork(
        in_features,
        out_features,
        rules,
        max_terms=6,
        selection=Selection("stge", temperature=0.5, noise_hold=64),
        firing=Firing("sum", alpha=1.0, layer_norm=True),
        consequent=Affine("zeros"),
        neurogenesis=Neurogenesis(epsilon=0.3, delay=3) if grow else None,
        input_range=(-1.0, 2.0),
    )


def small_nfn_network(actions: int) -> nn.Module:
    # Sets that are born move what rules have learned: without them it takes half the steps.
    value, advantage = (nfn_head(128, outputs, 64, grow=False) for outputs in (1, actions))
    return DuelingNetwork(SmallEncoder(), value, advantage)


def nfn_network(actions: int) -> nn.Module:
    value, advantage = (nfn_head(1600, outputs, 32, grow=True) for outputs in (1, actions))
    return DuelingNetwork(PictureEncoder(dropout=0.0, feature_norm=True), value, advantage)


NFN_CONFIG = replace(CATCH_CONFIG, learning_rate=3e-3)

AGENTS: dict[str, tuple[MakeNetwork, QConfig]] = {
    "dnn": (dnn_network, CATCH_CONFIG),
    "small_dnn": (small_dnn_network, CATCH_CONFIG),
    # Steadier data make up for the small encoder: without that, the last few balls take long.
    "small_nfn": (small_nfn_network, replace(NFN_CONFIG, batch_size=32, exploration_floor=0.5)),
    "nfn": (nfn_network, NFN_CONFIG),
}
"""By name: the plain network and the neuro-fuzzy one behind the paper's encoder, and both behind a small one."""


def make_learner(make_network: MakeNetwork, config: QConfig, seed: int, actions: int = 3) -> QLearning:
    streams = RandomStreams(seed)
    return QLearning(make_network(actions), config, actions=actions, streams=streams)


def greedy_score(learner: QLearning, episodes: int = 50) -> float:
    """Mean return of greedy play over episodes that training never saw, all played at once."""
    games = [Catch(seed=1_000_000) for _ in range(episodes)]
    frames = np.stack([game.reset(options={"episode": k})[0] for k, game in enumerate(games)])
    total, over = 0.0, False
    while not over:  # episodes of Catch are equally long
        outcomes = [game.step(action) for game, action in zip(games, learner.greedy(frames), strict=True)]
        frames = np.stack([outcome[0] for outcome in outcomes])
        total += sum(outcome[1] for outcome in outcomes)
        over = outcomes[0][2]
    return total / episodes


def steps_to_solve(
    make_network: MakeNetwork, seed: int, *, most: int = 2000, config: QConfig = CATCH_CONFIG
) -> int:
    """Train on Catch until greedy play catches every ball; return the steps taken, or -1 if `most` did not do."""
    learner = make_learner(make_network, config, seed)
    loop = Loop(lambda: Catch(seed), learner)
    while loop.steps < most:
        for _ in loop.run(50):
            pass
        if greedy_score(learner) == 1.0:
            return loop.steps
    return -1
