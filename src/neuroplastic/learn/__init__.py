"""Learners, one folder each, and what they share: experience, exploration, seeds and checkpoints."""

from .checkpoint import CheckpointError, CheckpointStore, CheckpointWarning
from .dqn.config import QConfig
from .dqn.exploration import Exploration
from .dqn.learner import QLearning
from .dqn.replay import Batch, ReplayMemory
from .parallel_q.config import ParallelQConfig
from .parallel_q.learner import ParallelQLearning
from .seeding import RandomStreams, episode_seed

__all__ = [
    "Batch",
    "CheckpointError",
    "CheckpointStore",
    "CheckpointWarning",
    "Exploration",
    "ParallelQConfig",
    "ParallelQLearning",
    "QConfig",
    "QLearning",
    "RandomStreams",
    "ReplayMemory",
    "episode_seed",
]
