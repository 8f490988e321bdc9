"""Agents for the tests that learn, and the run that trains one on the tiny game of `Catch`."""

from collections.abc import Callable

import numpy as np
from torch import nn

from neuroplastic.learn import QConfig, QLearning, RandomStreams, Trainer
from neuroplastic.learn.catch import Catch
from neuroplastic.network.dueling import DuelingNetwork, dnn_head
from neuroplastic.network.encoder import PictureEncoder

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


def make_learner(make_network: MakeNetwork, config: QConfig, seed: int, actions: int = 3) -> QLearning:
    streams = RandomStreams(seed)
    return QLearning(make_network(actions), config, actions=actions, streams=streams)


def greedy_score(learner: QLearning, episodes: int = 50) -> float:
    """Mean return of greedy play over episodes that training never saw, all played at once."""
    games = [Catch(seed=1_000_000) for _ in range(episodes)]
    frames = np.stack([game.reset(options={"episode": k})[0] for k, game in enumerate(games)])
    total, over = 0.0, False
    while not over:  # episodes of Catch are equally long
        outcomes = [game.step(action) for game, action in zip(games, learner.act(frames), strict=True)]
        frames = np.stack([outcome[0] for outcome in outcomes])
        total += sum(outcome[1] for outcome in outcomes)
        over = outcomes[0][2]
    return total / episodes


def steps_to_solve(
    make_network: MakeNetwork, seed: int, *, most: int = 1200, config: QConfig = CATCH_CONFIG
) -> int:
    """Train on Catch until greedy play catches every ball; return the steps taken, or -1 if `most` did not do."""
    learner = make_learner(make_network, config, seed)
    trainer = Trainer(Catch(seed), learner)
    while trainer.steps < most:
        for _ in trainer.run(50):
            pass
        if greedy_score(learner) == 1.0:
            return trainer.steps
    return -1
