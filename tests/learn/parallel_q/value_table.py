"""A learner whose action values are a table, and what came of its actions, written down."""

import numpy as np
import torch
from torch import nn

from neuroplastic.learn import RandomStreams
from neuroplastic.learn.experience import Setting, Step
from neuroplastic.learn.parallel_q.config import ParallelQConfig
from neuroplastic.learn.parallel_q.learner import ParallelQLearning


class Table(nn.Module):
    """Action values read from a table by the number in a one-pixel frame; counts its passes and rows by mode."""

    def __init__(self, values: list[list[float]]) -> None:
        super().__init__()
        self.values = nn.Parameter(torch.tensor(values))
        self.rows: dict[bool, list[int]] = {True: [], False: []}

    def forward(self, frames: torch.Tensor) -> torch.Tensor:
        self.rows[self.training].append(len(frames))
        return self.values[frames.flatten().long()]


def learner_of(
    values: list[list[float]],
    *,
    total_steps: int = 1000,
    mirrored: tuple[int, ...] | None = None,
    **fields: object,
) -> ParallelQLearning:
    small = {"training_games": 2, "rollout": 3, "batch_size": 3}
    config = ParallelQConfig(**small | fields)  # type: ignore[arg-type]
    setting = Setting(len(values[0]), RandomStreams(0), total_steps, mirrored_actions=mirrored)
    return config.build(Table(values), setting)


def numbers(*values: int) -> np.ndarray:
    return np.array(values, np.uint8)[:, None]


def outcome(following: np.ndarray, rewards=None, terminated=None, truncated=None, last=None) -> Step:
    games = len(following)
    return Step(
        np.zeros(games, np.float32) if rewards is None else np.array(rewards, np.float32),
        np.zeros(games, bool) if terminated is None else np.array(terminated),
        np.zeros(games, bool) if truncated is None else np.array(truncated),
        following,
        last or {},
    )
