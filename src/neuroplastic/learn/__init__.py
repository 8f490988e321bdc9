"""Learners, one folder each, and what they share: experience, exploration, seeds and checkpoints.

Each name waits until it is asked for: who plays only, a worker process, say, needs the seeds of episodes, not PyTorch.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

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
_HOME = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        # With name and object, Python itself adds "did you mean".
        raise AttributeError(
            f"module {__name__!r} has no attribute {name!r}", name=name, obj=sys.modules[__name__]
        )
    found = globals()[name] = getattr(import_module(_HOME[name], __name__), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
