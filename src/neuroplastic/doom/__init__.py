"""DOOM: the paper's seven scenarios as Gymnasium environments, on the real engine.

>>> from neuroplastic import doom
>>> env = doom.make("BP")
>>> picture, info = env.reset()

Also as `gymnasium.make("neuroplastic/BP-v0")`, once `neuroplastic` is imported, before Gymnasium or after it;
`gymnasium.make("neuroplastic.doom:neuroplastic/BP-v0")` needs no import at all.
(Gymnasium 1.0 gave up the entry points that would register environments unasked.)

What the scenarios are can be told where the engine is not installed. What plays them is imported when it is asked for,
and is a MissingPackageError where it cannot be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..late_names import late_names
from .pictures import OBSERVE, PICTURES, Observe, Picture
from .registration import register as _register
from .scenarios import SCENARIOS, Scenario, Score, UnknownScenario, scenario

if TYPE_CHECKING:
    from ..learn.episodes import episode_seed
    from .engine import EngineClosedError, EngineError
    from .environment import DoomEnv, ResetNeededError, make
    from .games import EpisodeResult, Games, Policy, PolicyError, play, random_play
    from .task import DoomTask

__all__ = [
    "OBSERVE",
    "PICTURES",
    "SCENARIOS",
    "DoomEnv",
    "DoomTask",
    "EngineClosedError",
    "EngineError",
    "EpisodeResult",
    "Games",
    "Observe",
    "Picture",
    "Policy",
    "PolicyError",
    "ResetNeededError",
    "Scenario",
    "Score",
    "UnknownScenario",
    "episode_seed",
    "make",
    "play",
    "random_play",
    "scenario",
]

# Where the names are defined that wait until they are asked for.
_HOMES = {
    "..learn.episodes": "episode_seed",
    ".engine": "EngineClosedError EngineError",
    ".environment": "DoomEnv ResetNeededError make",
    ".games": "EpisodeResult Games Policy PolicyError play random_play",
    ".task": "DoomTask",
}
__getattr__, __dir__ = late_names(__name__, _HOMES)


_register()
