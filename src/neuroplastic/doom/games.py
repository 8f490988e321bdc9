"""Several games at once, their pictures batched through one policy."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from types import TracebackType

import numpy as np
import numpy.typing as npt

from ..errors import NeuroplasticError, at_least, choose
from .engine import PICTURES, SIDE, Engine, EngineClosedError, Frame, Picture
from .environment import button_presses
from .scenarios import Scenario, scenario
from .seeds import episode_seed, mix

Policy = Callable[[Frame], npt.ArrayLike]
"""From k pictures (k, 84, 84, 3), uint8, to k whole-numbered actions. k varies from call to call."""


class PolicyError(NeuroplasticError, ValueError):
    """A policy returned something else than one action per picture."""


@dataclass(frozen=True)
class EpisodeResult:
    """How one episode went."""

    return_: float
    """The sum of its rewards, as the engine counts it."""
    steps: int
    """The number of decisions."""


@dataclass(frozen=True)
class _Waiting:
    """A game that waits for an action: its picture is in row `game`."""

    game: int
    episode: int
    step: int


@dataclass(frozen=True)
class _Ended:
    episode: int
    result: EpisodeResult


@dataclass(frozen=True)
class _Left:
    """A game's thread has no more to do, or could not go on."""

    error: BaseException | None = None


_Event = _Waiting | _Ended | _Left
_Decide = Callable[[Frame, list[_Waiting]], npt.ArrayLike]


class Games:
    """Up to `games` engines of one scenario, which stay open from one `play` to the next.

    Every game has a thread of its own: while an engine works or a picture is shrunk, Python's lock is free. The policy
    is called in the caller's thread, on the pictures of all games that wait, as soon as half of those that play do:
    so engines work while the policy thinks.

    Which game plays which episode is a matter of timing; what happens in an episode is not, as long as the policy's
    answer for a picture does not depend on the others in its batch.

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
        choose("picture", picture, PICTURES)
        self.scenario = scenario(scenario_name)
        self.picture = picture
        self.frame_skip = at_least("frame_skip", frame_skip, 1)
        self._engines: list[Engine | None] = [None] * at_least("games", games, 1)
        self._pictures = np.zeros((games, SIDE, SIDE, 3), np.uint8)
        self._presses = button_presses(self.scenario)
        self._closed = False

    def __enter__(self) -> Games:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def play(
        self,
        policy: Policy,
        episodes: int,
        *,
        seed: int = 0,
        on_episode: Callable[[int, EpisodeResult], None] | None = None,
    ) -> list[EpisodeResult]:
        """Play evaluation episodes 0, 1, ... of run seed `seed`; their results in that order.

        The engine's seeds are `episode_seed(seed, k, stream="evaluation")`, which no training episode has.
        `on_episode(k, result)` is called in the caller's thread as episodes end, in whatever order they do.
        """
        return self._play(lambda pictures, _: policy(pictures), episodes, seed, on_episode)

    def play_randomly(self, episodes: int, *, seed: int = 0) -> list[EpisodeResult]:
        """Play as `play` does, each action drawn uniformly as a function of run seed, episode and step."""

        def draw(_: Frame, waiting: list[_Waiting]) -> npt.ArrayLike:
            seeds = [episode_seed(seed, w.episode, stream="evaluation") for w in waiting]
            words = [mix(mix(s) ^ w.step) for s, w in zip(seeds, waiting, strict=True)]
            return [word % self.scenario.action_count for word in words]

        return self._play(draw, episodes, seed, None)

    def close(self) -> None:
        """End the engines. Closing twice does nothing."""
        self._closed = True
        for engine in self._engines:
            if engine is not None:
                engine.close()

    def _play(
        self,
        decide: _Decide,
        episodes: int,
        seed: int,
        on_episode: Callable[[int, EpisodeResult], None] | None,
    ) -> list[EpisodeResult]:
        if self._closed:
            raise EngineClosedError(
                f"these games of {self.scenario.key} are closed; make others with Games()"
            )
        at_least("episodes", episodes, 0)
        events: SimpleQueue[_Event] = SimpleQueue()
        to_play: SimpleQueue[int] = SimpleQueue()
        for episode in range(episodes):
            to_play.put(episode)
        actions: list[SimpleQueue[int | None]] = [SimpleQueue() for _ in self._engines]
        threads = [
            threading.Thread(target=self._work, args=(game, seed, to_play, actions[game], events))
            for game in range(min(episodes, len(self._engines)))
        ]
        results: dict[int, EpisodeResult] = {}
        waiting: list[_Waiting] = []
        playing = len(threads)
        try:
            for thread in threads:
                thread.start()
            while playing:
                for event in _drain(events):
                    if isinstance(event, _Waiting):
                        waiting.append(event)
                    elif isinstance(event, _Ended):
                        results[event.episode] = event.result
                        if on_episode is not None:
                            on_episode(event.episode, event.result)
                    else:
                        playing -= 1
                        if event.error is not None:
                            raise event.error
                if waiting and 2 * len(waiting) >= playing:
                    chosen = self._checked(
                        decide(self._pictures[[w.game for w in waiting]], waiting), len(waiting)
                    )
                    for w, action in zip(waiting, chosen, strict=True):
                        actions[w.game].put(action)
                    waiting.clear()
        finally:
            for queue in actions:
                queue.put(None)
            for thread in threads:
                if thread.ident is not None:
                    thread.join()
        return [results[episode] for episode in range(episodes)]

    def _work(
        self,
        game: int,
        seed: int,
        to_play: SimpleQueue[int],
        actions: SimpleQueue[int | None],
        events: SimpleQueue[_Event],
    ) -> None:
        """Play episodes until none is left, or until an action is None."""
        try:
            engine = self._engine(game)
            while True:
                episode = to_play.get_nowait()
                engine.begin(episode_seed(seed, episode, stream="evaluation"))
                step = 0
                while not engine.finished:
                    engine.read(self._pictures[game])
                    events.put(_Waiting(game, episode, step))
                    action = actions.get()
                    if action is None:
                        return
                    engine.act(self._presses[action], self.frame_skip)
                    step += 1
                events.put(_Ended(episode, EpisodeResult(engine.episode_return, step)))
        except Empty:
            events.put(_Left())
        except BaseException as error:  # handed to the caller's thread, which raises it
            events.put(_Left(error))

    def _engine(self, game: int) -> Engine:
        engine = self._engines[game]
        if engine is None or engine.closed:
            engine = self._engines[game] = Engine(self.scenario, self.picture)
        return engine

    def _checked(self, answer: npt.ArrayLike, count: int) -> list[int]:
        actions = np.asarray(answer)
        if actions.shape != (count,) or not np.issubdtype(actions.dtype, np.integer):
            raise PolicyError(
                f"a policy must return one whole number per picture, shape ({count},), "
                f"got {actions.dtype} of shape {actions.shape}"
            )
        if actions.min() < 0 or actions.max() >= len(self._presses):
            raise PolicyError(
                f"actions of {self.scenario.key} must be at least 0 and below {len(self._presses)}, got {actions}"
            )
        return [int(action) for action in actions]


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
    with Games(
        scenario, games=min(games, max(episodes, 1)), picture=picture, frame_skip=frame_skip
    ) as opened:
        return opened.play(policy, episodes, seed=seed, on_episode=on_episode)


def random_play(
    scenario: str | Scenario, episodes: int = 25, *, frame_skip: int = 4, seed: int = 0, games: int = 4
) -> list[EpisodeResult]:
    """What uniformly random actions score: the baseline. The engine draws small, for nobody looks."""
    with Games(scenario, games=games, picture="fast", frame_skip=frame_skip) as opened:
        return opened.play_randomly(episodes, seed=seed)


def _drain(events: SimpleQueue[_Event]) -> list[_Event]:
    """All that has come in; waits for the first."""
    drained = [events.get()]
    while True:
        try:
            drained.append(events.get_nowait())
        except Empty:
            return drained
