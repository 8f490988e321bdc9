"""Learners: dueling double Q-learning from pictures, with replay, exploration, seeds and checkpoints."""

from .checkpoint import CheckpointError, CheckpointStore, CheckpointWarning
from .dqn.exploration import Exploration
from .dqn.learner import QConfig, QLearning
from .dqn.replay import Batch, ReplayMemory
from .seeding import RandomStreams, episode_seed

__all__ = [
    "Batch",
    "CheckpointError",
    "CheckpointStore",
    "CheckpointWarning",
    "Exploration",
    "QConfig",
    "QLearning",
    "RandomStreams",
    "ReplayMemory",
    "episode_seed",
]
