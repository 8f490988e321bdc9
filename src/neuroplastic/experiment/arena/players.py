"""Plays some of an arena's games, one after the other, and puts what comes of it on the board."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from ..game import Game
from ..protocols import Task
from .board import Board


@dataclass(frozen=True)
class Lineup:
    """Which games somebody plays."""

    task: Task
    seed: int
    games: tuple[int, ...]
    """numbers of their rows on the board"""
    stride: int
    """games of the whole arena: after episode k of a game comes episode k + stride"""
    spares: bool = False
    """whether every game has a second environment, in which its next episode is begun while this one is played"""


@dataclass(frozen=True)
class Start:
    """Where a game stands: which episode, and the actions taken in it so far."""

    game: int
    episode: int
    actions: tuple[int, ...] = ()


@dataclass(frozen=True)
class Resume:
    """A command: play these episodes up to where they stood. The answer: the games whose episode ended before that."""

    starts: tuple[Start, ...]


@dataclass(frozen=True)
class Advance:
    """A command: one step in every game, but for those skipped, by the actions on the board. No answer.

    Of a `group`, 0 or 1, it is half of the games: see `group_of`.
    """

    skipped: tuple[int, ...] = ()
    group: int | None = None


Command = Resume | Advance
Answer = tuple[int, ...]


def group_of(games: tuple[int, ...], group: int | None) -> tuple[int, ...]:
    """Of the games that somebody plays, those of a group: the first half, which is the larger, the second; or all."""
    half = -(-len(games) // 2)
    return games if group is None else games[half:] if group else games[:half]


class Spare:
    """An environment in which a game's next episode is begun in the background: an engine takes its time for it."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self._thread: threading.Thread | None = None
        self._error: Exception | None = None

    def begin(self, episode: int) -> None:
        """Begin an episode, and do not wait for it."""
        self._wait()
        self._thread = threading.Thread(target=self._begin, args=(episode,))
        self._thread.start()

    def exchange(self, game: Game, episode: int) -> Game:
        """The environment in which this episode is begun, for one that has come to an end."""
        self._wait()
        error, self._error = self._error, None
        if error is not None:
            raise error
        if self._game.episode != episode:
            self._game.begin(episode)
        game, self._game = self._game, game
        return game

    def close(self) -> None:
        """Close the environment."""
        self._wait()
        self._game.close()

    def _begin(self, episode: int) -> None:
        try:
            self._game.begin(episode)
        except Exception as error:  # whoever needs the episode is told
            self._error = error

    def _wait(self) -> None:
        if self._thread is not None:
            self._thread.join()
        self._thread = None


class Players:
    """The games of a lineup, and the commands that they obey."""

    def __init__(self, lineup: Lineup, board: Board) -> None:
        self.lineup, self.board = lineup, board
        self._games: dict[int, Game] = {}
        self._spares: dict[int, Spare] = {}
        try:
            for game in lineup.games:
                self._games[game] = Game(lineup.task, seed=lineup.seed, stream="training")
                if lineup.spares:
                    spare = Game(lineup.task, seed=lineup.seed, stream="training")
                    self._spares[game] = Spare(spare)
        except BaseException:
            self.close()
            raise

    def obey(self, command: Command) -> Answer:
        """Do what is asked."""
        if isinstance(command, Resume):
            return tuple(start.game for start in command.starts if not self._resume(start))
        for number in group_of(self.lineup.games, command.group):
            if number not in command.skipped:
                self._advance(number)
        return ()

    def close(self) -> None:
        """Close all environments."""
        for spare in self._spares.values():
            spare.close()
        for game in self._games.values():
            game.close()

    def _advance(self, number: int) -> None:
        game, board = self._games[number], self.board
        game.act(int(board.actions[number]))
        board.rewards[number] = game.reward
        board.terminated[number] = game.terminated
        board.truncated[number] = game.truncated
        if game.over:
            self._begin_next(number)
        else:
            self._show(number, game)

    def _resume(self, start: Start) -> bool:
        game = self._games[start.game]
        game.begin(start.episode)
        self._begin_ahead(start.game)
        for action in start.actions:
            game.act(action)
            if game.over:
                self._begin_next(start.game)
                return False
        self._show(start.game, game)
        return True

    def _begin_next(self, number: int) -> None:
        game = self._games[number]
        self.board.last[number] = game.observation
        following = game.episode + self.lineup.stride
        if number in self._spares:
            game = self._games[number] = self._spares[number].exchange(game, following)
            self._begin_ahead(number)
        else:
            game.begin(following)
        self._show(number, game)

    def _show(self, number: int, game: Game) -> None:
        """Put what is acted upon next on the board."""
        self.board.observations[number] = game.observation
        self.board.advice[number] = game.advice

    def _begin_ahead(self, number: int) -> None:
        if number in self._spares:
            self._spares[number].begin(self._games[number].episode + self.lineup.stride)
