"""Who plays some of an arena's games: this process itself, or a worker. Either can be lost, and replaced."""

from __future__ import annotations

from multiprocessing.connection import Connection
from typing import Any, Protocol

from ..game import GameLostError
from ..protocols import Task
from .board import Board
from .forking import Forking, ForkingError
from .players import Answer, Command, Lineup, Players
from .wire import receive_answer, send_command
from .worker import Failure

_PATIENCE = 5.0  # seconds that a worker has to close its environments


class LostError(Exception):
    """Whoever played is gone, with all games; the message says who and why."""


class WorkerTraceback(Exception):  # noqa: N818
    """Where in a worker process an error came from."""

    def __str__(self) -> str:
        return f"in a worker process:\n{self.args[0]}"


class Hand(Protocol):
    """Plays games. Every command that is sent is to be followed by receiving its answer."""

    games: tuple[int, ...]
    losses: int
    """how often it was lost since it last took a step"""

    def send(self, command: Command) -> None:
        """Have the command obeyed; where nobody is there to do so, by somebody new, who has no game under way."""
        ...

    def receive(self) -> Answer:
        """The answer, waited for. LostError: there will be none, and none of the games is under way any more."""
        ...

    def close(self) -> None:
        """Have all environments closed."""
        ...


class OwnHand:
    """This process, which obeys when the answer is asked for."""

    def __init__(self, task: Task, board: Board, *, seed: int) -> None:
        count = len(board.actions)
        self.games = tuple(range(count))
        self.losses = 0
        self._lineup, self._board = Lineup(task, seed, self.games, count), board
        self._players: Players | None = None
        self._command: Command | None = None

    def send(self, command: Command) -> None:
        """Note the command."""
        self._command = command

    def receive(self) -> Answer:
        """Obey the command."""
        assert self._command is not None
        try:
            if self._players is None:
                self._players = Players(self._lineup, self._board)
            return self._players.obey(self._command)
        except GameLostError as error:
            self.close()
            raise LostError(f"a game was lost ({error})") from error

    def close(self) -> None:
        """Close all environments."""
        if self._players is not None:
            self._players.close()
        self._players = None


class WorkerHand:
    """A worker process."""

    def __init__(self, forking: Forking, games: tuple[int, ...]) -> None:
        self.games = games
        self.losses = 0
        self.pid: int | None = None
        self._forking = forking
        self._pipe: Connection[Any, Any]
        self._trouble = ""

    def send(self, command: Command) -> None:
        """Send the command; a worker that is not there is noticed when the answer is asked for."""
        self._trouble = ""
        try:
            if self.pid is None:
                self.pid, self._pipe = self._forking.fork(self.games)
            send_command(self._pipe, command)
        except (OSError, ForkingError) as error:
            self._trouble = str(error)

    def receive(self) -> Answer:
        """Wait for the answer; an error of the worker's is raised here."""
        if not self._trouble:
            try:
                answer = receive_answer(self._pipe)
            except (EOFError, OSError) as error:
                self._trouble = str(error) or "its pipe is closed"
            else:
                if not isinstance(answer, Failure):
                    return tuple(answer)
                if not isinstance(answer.error, GameLostError):
                    raise answer.error from WorkerTraceback(answer.traceback)
                pid = self.pid
                self.close()
                raise LostError(f"worker process {pid} lost a game ({answer.error})")
        raise LostError(self._end())

    def leave(self) -> None:
        """Tell the worker that there are no more commands, without waiting for it to end."""
        if self.pid is not None:
            self._pipe.close()

    def close(self) -> None:
        """Have the worker close its environments and end."""
        if self.pid is not None:
            self.leave()
            self._forking.end(self.pid, patience=_PATIENCE)
            self.pid = None

    def _end(self) -> str:
        if self.pid is None:
            return f"a worker process could not be started: {self._trouble}"
        pid, self.pid = self.pid, None
        self._pipe.close()
        return f"worker process {pid} {self._forking.end(pid)}"
