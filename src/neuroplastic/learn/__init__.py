"""Learners, one folder each, and what they share: experience, exploration, seeds and checkpoints.

Each name waits until it is asked for: who plays only, a worker process, say, needs the seeds of episodes, not PyTorch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..late_names import late_names

if TYPE_CHECKING:
    from .checkpoint import CheckpointError, CheckpointStore, CheckpointWarning
    from .dqn.config import QConfig
    from .dqn.exploration import Exploration
    from .dqn.learner import QLearning
    from .dqn.replay import Batch, ReplayMemory
    from .episodes import episode_seed
    from .parallel_q.config import ParallelQConfig
    from .parallel_q.learner import ParallelQLearning
    from .seeding import RandomStreams

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

# Where the names are defined.
_HOMES = {
    ".checkpoint": "CheckpointError CheckpointStore CheckpointWarning",
    ".dqn.config": "QConfig",
    ".dqn.exploration": "Exploration",
    ".dqn.learner": "QLearning",
    ".dqn.replay": "Batch ReplayMemory",
    ".episodes": "episode_seed",
    ".parallel_q.config": "ParallelQConfig",
    ".parallel_q.learner": "ParallelQLearning",
    ".seeding": "RandomStreams",
}
__getattr__, __dir__ = late_names(__name__, _HOMES)
