"""Several games of a scenario at once, as `experiment.play` has them for every task."""

from __future__ import annotations

from collections.abc import Callable

from ..experiment.game import Policy, PolicyError
from ..experiment.play import EpisodeResult
from ..experiment.play import Games as GamesOfTask
from .environment import DoomEnv  # here, so that what is missing is told at once
from .pictures import Picture
from .scenarios import Scenario
from .task import DoomTask

__all__ = ["DoomEnv", "EpisodeResult", "Games", "Policy", "PolicyError", "play", "random_play"]


class Games(GamesOfTask):
    """Engines of one scenario that play at once, and stay open from one `play` to the next.

    >>> with Games("BP") as games:
    ...     results = games.play(policy, 25, seed=0)
    """

    def __init__(
        self,
        scenario_name: str | Scenario,
        *,
        games: int = 4,
        picture: Picture = "paper",
        frame_skip: int = 4,
    ) -> None:
        super().__init__(_task(scenario_name, picture, frame_skip), games=games)


def play(
    policy: Policy,
    episodes: int,
    *,
    scenario: str | Scenario,
    picture: Picture = "paper",
    frame_skip: int = 4,
    seed: int = 0,
    games: int = 4,
    on_episode: Callable[[int, EpisodeResult], None] | None = None,
) -> list[EpisodeResult]:
    """`Games.play` on engines that are started for this call and closed after it."""
    with Games(scenario, games=games, picture=picture, frame_skip=frame_skip) as opened:
        return opened.play(policy, episodes, seed=seed, on_episode=on_episode)


def random_play(
    scenario: str | Scenario, episodes: int = 25, *, frame_skip: int = 4, seed: int = 0, games: int = 4
) -> list[EpisodeResult]:
    """What uniformly random actions score: the baseline. The engine draws small, for nobody looks."""
    with Games(scenario, games=games, picture="fast", frame_skip=frame_skip) as opened:
        return opened.play_randomly(episodes, seed=seed)


def _task(scenario: str | Scenario, picture: Picture, frame_skip: int) -> DoomTask:
    return DoomTask(scenario.key if isinstance(scenario, Scenario) else scenario, picture, frame_skip)
