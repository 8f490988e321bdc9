"""Many training games at once, in this process or in workers that are replaced when they die."""

from .arena import Arena, default_processes
from .reports import (
    ArenaError,
    Episode,
    ReplayedEpisodeWarning,
    Unrepeated,
    WorkerLostError,
    WorkerReplacedWarning,
)

__all__ = [
    "Arena",
    "ArenaError",
    "Episode",
    "ReplayedEpisodeWarning",
    "Unrepeated",
    "WorkerLostError",
    "WorkerReplacedWarning",
    "default_processes",
]
