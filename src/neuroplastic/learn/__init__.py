"""Learners: dueling double Q-learning from pictures, with replay, exploration, seeds and checkpoints."""

from .checkpoint import CheckpointError, CheckpointStore, CheckpointWarning
from .ddqn import QConfig, QLearning
from .exploration import Exploration
from .replay import Batch, ReplayMemory
from .seeding import RandomStreams, episode_seed
from .trainer import Episode, ReplayedEpisodeWarning, StepReport, Trainer

__all__ = [
    "Batch",
    "CheckpointError",
    "CheckpointStore",
    "CheckpointWarning",
    "Episode",
    "Exploration",
    "QConfig",
    "QLearning",
    "RandomStreams",
    "ReplayMemory",
    "ReplayedEpisodeWarning",
    "StepReport",
    "Trainer",
    "episode_seed",
]
