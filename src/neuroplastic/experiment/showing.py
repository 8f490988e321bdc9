"""Episodes that somebody watches: every frame with the action that is taken on it, on a film or in a window."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import ConfigError
from ..learn.experience import Observations
from .game import Game, GameError, Policy, decided
from .protocols import Task

Frame = NDArray[np.uint8]


class Screen(Protocol):
    """Where frames (H, W, 3) are shown."""

    reason: str
    """what is written below the caption"""

    def show(self, frames: list[Frame], action: str, score: float) -> None:
        """Show frames one after the other with the action that is taken on them and the score so far."""
        ...


class Commentary(Protocol):
    """Tells of each decision what there is to tell, and draws it into the frames that follow."""

    def look(self, game: Game) -> Observations:
        """What of a game the policy is shown."""
        ...

    def decided(self, game: Game, seen: Observations, action: int) -> None:
        """Hear what was decided on what was seen."""
        ...

    def painted(self, frame: Frame) -> Frame:
        """A frame with the latest decision in it; all frames of one shape become frames of one shape."""
        ...


Opens = Callable[[Frame, float], AbstractContextManager[Screen]]
"""Opens a screen for frames like the first one, at so many a second."""


@dataclass(frozen=True)
class ShownEpisode:
    """What was shown: its score, the number of decisions, and the observations they were made on."""

    score: float
    decisions: int
    observations: list[Observations]
    seconds: float = 0.0
    """of the game's own time"""


def show_episodes(
    task: Task,
    policy: Policy,
    opens: Opens,
    *,
    episodes: Iterable[int] = (0,),
    seed: int = 0,
    longest: float = 120.0,
    why: Callable[[Observations], str] | None = None,
    commentary: Commentary | None = None,
    on_episode: Callable[[ShownEpisode], None] = lambda _: None,
) -> list[ShownEpisode]:
    """Play evaluation episodes and show them, each for at most `longest` seconds of the game's own time.

    The screen has the frames and the rate that the environment gives, each with the action that is taken and the
    score so far, and below that with what `why` says of the observation; a `commentary` draws into the frames.
    """
    if not longest > 0:
        raise ConfigError(f"longest must be a number of seconds above 0, got {longest}")
    shown: list[ShownEpisode] = []
    with Game(task, seed=seed, stream="evaluation", film=True) as game:
        rate = float(game.environment.metadata["render_fps"])
        numbers = iter(episodes)
        game.begin(next(numbers))
        frames = _frames(game)
        if not frames:
            raise GameError(
                f"{task.key} gives no frame at the beginning of an episode: render() must return a list of frames "
                "where an environment is made with film=True"
            )
        with opens(frames[0] if commentary is None else commentary.painted(frames[0]), rate) as screen:
            while True:
                shown.append(
                    _shown(game, policy, screen, frames, most=longest * rate, why=why, commentary=commentary)
                )
                on_episode(shown[-1])
                number = next(numbers, None)
                if number is None:
                    return shown
                game.begin(number)
                frames = _frames(game)


def _shown(
    game: Game,
    policy: Policy,
    screen: Screen,
    frames: list[Frame],
    *,
    most: float,
    why: Callable[[Observations], str] | None,
    commentary: Commentary | None,
) -> ShownEpisode:
    """The episode that has begun, with its first frames."""
    observations: list[Observations] = []
    names = game.task.actions
    action, count = 0, len(frames)

    def show(some: list[Frame], score: float) -> None:
        screen.show(
            some if commentary is None else [commentary.painted(one) for one in some], names[action], score
        )

    while not game.over and count < most:
        seen = game.observation if commentary is None else commentary.look(game)
        observations.append(seen.copy())
        action, score = decided(policy, seen, game.task), game.total_reward
        screen.reason = "" if why is None else why(seen)
        if commentary is not None:
            commentary.decided(game, seen, action)
        show(frames, score)
        game.act(action)
        frames = _frames(game)
        count += len(frames)
        # The last frame of an action is the one that the next is decided upon, and is shown with that.
        show(frames[:-1], score)
        frames = frames[-1:]
    show(frames, game.total_reward)
    rate = float(game.environment.metadata["render_fps"])
    return ShownEpisode(game.total_reward, len(observations), observations, count / rate)


def _frames(game: Game) -> list[Frame]:
    return [np.asarray(frame) for frame in game.environment.render() or ()]
