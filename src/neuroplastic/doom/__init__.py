"""DOOM: the paper's seven scenarios as Gymnasium environments, on the real engine.

>>> from neuroplastic import doom
>>> env = doom.make("BP")
>>> picture, info = env.reset()

Also as `gymnasium.make("neuroplastic/BP-v0")`, once this module is imported; `neuroplastic.doom:neuroplastic/BP-v0`
has Gymnasium import it. (Gymnasium 1.0 gave up entry points that would register environments unasked.)
"""

from __future__ import annotations

from ..errors import MissingPackageError

try:
    import cv2 as _cv2  # noqa: F401
    import gymnasium
    import vizdoom as _vizdoom  # noqa: F401
except ImportError as error:
    raise MissingPackageError(
        f"neuroplastic.doom needs the game engine and its helpers ({error}); "
        "install them with: pip install 'neuroplastic[doom]'"
    ) from error

from ..learn.seeding import episode_seed
from .engine import EngineClosedError, EngineError, Picture
from .environment import DoomEnv, ResetNeededError
from .games import EpisodeResult, Games, Policy, PolicyError, play, random_play
from .scenarios import SCENARIOS, Scenario, Score, UnknownScenario, scenario

__all__ = [
    "SCENARIOS",
    "DoomEnv",
    "EngineClosedError",
    "EngineError",
    "EpisodeResult",
    "Games",
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


def make(
    key: str | Scenario,
    *,
    picture: Picture = "paper",
    frame_skip: int = 4,
    seed: int = 0,
    render_mode: str | None = None,
) -> DoomEnv:
    """The environment of one scenario, by its key ("BP") or ViZDoom's name ("basic"). See `DoomEnv`."""
    return DoomEnv(key, picture=picture, frame_skip=frame_skip, seed=seed, render_mode=render_mode)


def _register() -> None:
    for key in SCENARIOS:
        name = f"neuroplastic/{key}-v0"
        if name not in gymnasium.registry:
            gymnasium.register(name, "neuroplastic.doom.environment:DoomEnv", kwargs={"scenario_name": key})


_register()
