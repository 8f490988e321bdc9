"""Several games at once, their pictures batched through one policy."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from queue import SimpleQueue
from types import TracebackType

import numpy as np
import numpy.typing as npt

from ..errors import NeuroplasticError, at_least, choose
from ..learn.seeding import episode_seed, mix
from .engine import Engine, EngineClosedError, Frame
from .environment import button_presses
from .pictures import PICTURES, SIDE, Picture
from .scenarios import Scenario, scenario

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
class _Begin:
    """Tells a game's thread to begin an episode."""

    episode: int


@dataclass(frozen=True)
class _Waiting:
    """A game that waits for an action. Its picture is in row `game`."""

    game: int
    episode: int
    step: int


@dataclass(frozen=True)
class _Ended:
    """A game whose episode is over."""

    episode: int
    result: EpisodeResult


_Command = int | _Begin | None
"""An action, an episode to begin, or None to leave."""
_Reply = _Waiting | _Ended | BaseException
_Decide = Callable[[Frame, list[_Waiting]], npt.ArrayLike]
_OnEpisode = Callable[[int, EpisodeResult], None]


class _Seat:
    """One game's place at the table, as the caller's thread sees it."""

    def __init__(self, game: int) -> None:
        self.game = game
        self.taken = False
        self.commands: SimpleQueue[_Command] = SimpleQueue()
        self.replies: SimpleQueue[_Reply] = SimpleQueue()

    def begin_next(self, to_play: Iterator[int]) -> None:
        """Have the next episode begun; without one, leave the seat."""
        episode = next(to_play, None)
        self.taken = episode is not None
        if episode is not None:
            self.commands.put(_Begin(episode))

    def reply(self) -> _Waiting | _Ended:
        """The answer to the last command, waited for."""
        reply = self.replies.get()
        if isinstance(reply, BaseException):
            raise reply
        return reply


class Games:
    """Several engines of one scenario that play at once, and stay open from one `play` to the next.

    Every game has a thread of its own: while an engine works or a picture is shrunk, Python's lock is free.
    The games form two groups that take turns: while the policy looks at the pictures of one, the engines of
    the other work. The policy is called in the caller's thread.

    What happens in an episode does not depend on how many games there are, as long as the policy's answer for
    a picture does not depend on the others in its batch. Where it does, be it by rounding, a play with the same
    number of games still repeats to the last bit, for the batches do not depend on timing.

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
        self, policy: Policy, episodes: int, *, seed: int = 0, on_episode: _OnEpisode | None = None
    ) -> list[EpisodeResult]:
        """Play evaluation episodes 0, 1, ... of run seed `seed`; their results in that order.

        The engine's seeds are `episode_seed(seed, k, stream="evaluation")`, which no training episode has.
        `on_episode(k, result)` is called in the caller's thread as episodes end: not always in their order.
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
        self, decide: _Decide, episodes: int, seed: int, on_episode: _OnEpisode | None
    ) -> list[EpisodeResult]:
        if self._closed:
            raise EngineClosedError(
                f"these games of {self.scenario.key} are closed; make others with Games()"
            )
        at_least("episodes", episodes, 0)
        seats = [_Seat(game) for game in range(min(episodes, len(self._engines)))]
        threads = [threading.Thread(target=self._work, args=(seat, seed)) for seat in seats]
        to_play = iter(range(episodes))
        results: dict[int, EpisodeResult] = {}
        turn = 0
        try:
            for seat, thread in zip(seats, threads, strict=True):
                thread.start()
                seat.begin_next(to_play)
            while any(seat.taken for seat in seats):
                waiting: list[_Waiting] = []
                for seat in seats[turn % 2 :: 2]:
                    if not seat.taken:
                        continue
                    reply = seat.reply()
                    if isinstance(reply, _Waiting):
                        waiting.append(reply)
                    else:
                        results[reply.episode] = reply.result
                        seat.begin_next(to_play)
                        if on_episode is not None:
                            on_episode(reply.episode, reply.result)
                if waiting:
                    pictures = self._pictures[[w.game for w in waiting]]
                    actions = self._checked(decide(pictures, waiting), len(waiting))
                    for w, action in zip(waiting, actions, strict=True):
                        seats[w.game].commands.put(action)
                turn += 1
        finally:
            for seat in seats:
                seat.commands.put(None)
            for thread in threads:
                if thread.ident is not None:
                    thread.join()
        return [results[episode] for episode in range(episodes)]

    def _work(self, seat: _Seat, seed: int) -> None:
        """Obey the seat's commands until told to leave, with one reply to each; an error is the last."""
        episode, step = -1, 0
        try:
            engine = self._engine(seat.game)
            while (command := seat.commands.get()) is not None:
                if isinstance(command, _Begin):
                    episode, step = command.episode, 0
                    engine.begin(episode_seed(seed, episode, stream="evaluation"))
                else:
                    engine.act(self._presses[command], self.frame_skip)
                    step += 1
                if engine.finished:
                    seat.replies.put(_Ended(episode, EpisodeResult(engine.episode_return, step)))
                else:
                    engine.read(self._pictures[seat.game])
                    seat.replies.put(_Waiting(seat.game, episode, step))
        except BaseException as error:  # the caller's thread raises it
            seat.replies.put(error)

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
    on_episode: _OnEpisode | None = None,
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
