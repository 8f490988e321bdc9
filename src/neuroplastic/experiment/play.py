"""Evaluation: several games at once, their observations batched through one policy."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ..errors import NeuroplasticError, at_least, at_most
from ..learn.episodes import episode_seed, mix
from ..learn.experience import Observations
from .configuration import MOST_EPISODES
from .game import Game, Policy, checked_actions, decision
from .protocols import Task


class GamesClosedError(NeuroplasticError, RuntimeError):
    """Games were asked to play after they were closed."""


@dataclass(frozen=True)
class EpisodeResult:
    """How one episode went."""

    return_: float
    """The sum of its rewards."""
    steps: int
    """The number of decisions."""


@dataclass(frozen=True)
class _Begin:
    """Tells a seat to begin an episode."""

    episode: int


@dataclass(frozen=True)
class _Waiting:
    """A game that waits for an action."""

    seat: int
    episode: int
    step: int
    observation: Observations


@dataclass(frozen=True)
class _Ended:
    """A game whose episode is over."""

    episode: int
    result: EpisodeResult


_Command = int | _Begin
"""An action, or an episode to begin."""
_Obey = Callable[[int, _Command], _Waiting | _Ended]
"""Has a seat, by its number, obey a command."""
_Decide = Callable[[Observations, list[_Waiting]], npt.ArrayLike]
_OnEpisode = Callable[[int, EpisodeResult], None]


class _Seat(Protocol):
    """Where one game is played: every command is to be followed by asking for the reply."""

    def tell(self, command: _Command) -> None: ...

    def reply(self) -> _Waiting | _Ended: ...

    def leave(self) -> None: ...


class _OwnSeat:
    """A game in the caller's thread."""

    def __init__(self, number: int, obey: _Obey) -> None:
        self._number, self._obey = number, obey
        self._command: _Command = 0

    def tell(self, command: _Command) -> None:
        self._command = command

    def reply(self) -> _Waiting | _Ended:
        return self._obey(self._number, self._command)

    def leave(self) -> None:
        pass


class _ThreadSeat:
    """A game in a thread of its own; an error is its last reply."""

    def __init__(self, number: int, obey: _Obey) -> None:
        self._number, self._obey = number, obey
        self._commands: SimpleQueue[_Command | None] = SimpleQueue()
        self._replies: SimpleQueue[_Waiting | _Ended | BaseException] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, name=f"game-{number}")
        self._thread.start()

    def tell(self, command: _Command) -> None:
        self._commands.put(command)

    def reply(self) -> _Waiting | _Ended:
        reply = self._replies.get()
        if isinstance(reply, BaseException):
            raise reply
        return reply

    def leave(self) -> None:
        self._commands.put(None)
        self._thread.join()

    def _work(self) -> None:
        try:
            while (command := self._commands.get()) is not None:
                self._replies.put(self._obey(self._number, command))
        except BaseException as error:  # the caller's thread raises it
            self._replies.put(error)


class Games:
    """Several games of one task that are played at once, and stay open from one `play` to the next.

    Where `threads` are used, every game has one of its own, and the games form two groups that take turns: while the
    policy looks at what one shows, the engines of the other work, for an engine lets go of Python's lock. That pays
    for pictures, which is the default, and not for vectors. The policy is called in the caller's thread.

    What happens in an episode does not depend on how many games there are, as long as the policy's answer for an
    observation does not depend on the others in its batch. Where it does, be it by rounding, a play with the same
    number of games still repeats to the last bit, for the batches do not depend on timing.

    >>> with Games(task) as games:
    ...     results = games.play(policy, 25, seed=0)
    """

    def __init__(self, task: Task, *, games: int = 4, threads: bool | None = None) -> None:
        self.task = task
        self.threads = task.observation.is_picture if threads is None else threads
        self._games: list[Game | None] = [None] * at_least("games", games, 1)
        self._seed = 0
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
        """Play episodes 0, 1, ... of stream "evaluation" of run seed `seed`; their results in that order.

        No training episode is among them. `on_episode(k, result)` is called in the caller's thread as episodes end:
        not always in their order.
        """
        return self._play(lambda observations, _: policy(observations), episodes, seed, on_episode)

    def play_randomly(self, episodes: int, *, seed: int = 0) -> list[EpisodeResult]:
        """Play as `play` does, each action drawn uniformly as a function of run seed, episode and step."""

        def draw(_: Observations, waiting: list[_Waiting]) -> npt.ArrayLike:
            seeds = [episode_seed(seed, w.episode, stream="evaluation") for w in waiting]
            words = [mix(mix(s) ^ w.step) for s, w in zip(seeds, waiting, strict=True)]
            return [word % len(self.task.actions) for word in words]

        return self._play(draw, episodes, seed, None)

    def close(self) -> None:
        """Close all environments. Closing twice does nothing."""
        self._closed = True
        self._clear()

    def _play(
        self, decide: _Decide, episodes: int, seed: int, on_episode: _OnEpisode | None
    ) -> list[EpisodeResult]:
        if self._closed:
            raise GamesClosedError(f"these games of {self.task.key} are closed; make others with Games()")
        at_most("episodes", at_least("episodes", episodes, 0), MOST_EPISODES)
        if seed != self._seed:  # an environment keeps the seed that it was made with
            self._clear()
        self._seed = seed
        seats: list[_Seat] = []
        try:
            for number in range(min(episodes, len(self._games))):
                seats.append((_ThreadSeat if self.threads else _OwnSeat)(number, self._obey))
            return self._around(seats, decide, episodes, on_episode)
        finally:
            for seat in seats:
                seat.leave()

    def _around(
        self, seats: Sequence[_Seat], decide: _Decide, episodes: int, on_episode: _OnEpisode | None
    ) -> list[EpisodeResult]:
        """Let groups of seats take turns until all episodes are played."""
        to_play = iter(range(episodes))
        results: dict[int, EpisodeResult] = {}
        taken = [_begin_next(seat, to_play) for seat in seats]
        groups = 2 if self.threads else 1
        turn = 0
        while any(taken):
            waiting: list[_Waiting] = []
            for number in range(turn % groups, len(seats), groups):
                if not taken[number]:
                    continue
                reply = seats[number].reply()
                if isinstance(reply, _Waiting):
                    waiting.append(reply)
                    continue
                results[reply.episode] = reply.result
                taken[number] = _begin_next(seats[number], to_play)
                if on_episode is not None:
                    on_episode(reply.episode, reply.result)
            if waiting:
                observations: Any = np.stack([w.observation for w in waiting])
                actions = checked_actions(decide(observations, waiting), len(waiting), self.task)
                for w, action in zip(waiting, actions.tolist(), strict=True):
                    seats[w.seat].tell(action)
            turn += 1
        return [results[episode] for episode in range(episodes)]

    def _obey(self, number: int, command: _Command) -> _Waiting | _Ended:
        game = self._games[number]
        if game is None:
            game = self._games[number] = Game(self.task, seed=self._seed, stream="evaluation")
        try:
            if isinstance(command, _Begin):
                game.begin(command.episode)
            else:
                game.act(command)
        except BaseException:  # it may be broken for good: the next play makes another
            self._games[number] = None
            game.close()
            raise
        if game.over:
            return _Ended(game.episode, EpisodeResult(game.total_reward, game.steps))
        return _Waiting(number, game.episode, game.steps, game.observation)

    def _clear(self) -> None:
        for number, game in enumerate(self._games):
            self._games[number] = None
            if game is not None:
                game.close()


def _begin_next(seat: _Seat, to_play: Iterator[int]) -> bool:
    """Have the next episode begun; whether there is one."""
    episode = next(to_play, None)
    if episode is not None:
        seat.tell(_Begin(episode))
    return episode is not None


def watch_episode(task: Task, policy: Policy, *, episode: int = 0, seed: int = 0) -> list[Observations]:
    """Play one evaluation episode; the observations that its decisions were made on."""
    with Game(task, seed=seed, stream="evaluation") as game:
        return _watched(game, policy, episode)


def watch_evaluation(
    task: Task, policy: Policy, *, observations: int, episodes: int, seed: int = 0
) -> list[Observations]:
    """Play evaluation episodes until at least so many observations were decided on, or so many episodes played."""
    seen: list[Observations] = []
    with Game(task, seed=seed, stream="evaluation") as game:
        for episode in range(at_least("episodes", episodes, 1)):
            seen += _watched(game, policy, episode)
            if len(seen) >= observations:
                break
    return seen


def _watched(game: Game, policy: Policy, episode: int) -> list[Observations]:
    seen: list[Observations] = []
    game.begin(episode)
    while not game.over:
        seen.append(game.observation.copy())
        game.act(decision(policy, game))
    return seen
