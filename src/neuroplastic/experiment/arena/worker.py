"""A worker process: plays some games of an arena until the arena's end of the pipe is closed."""

from __future__ import annotations

import pickle
import traceback
from dataclasses import dataclass
from multiprocessing.connection import Connection

from ...errors import NeuroplasticError
from ..game import GameError
from .board import Board
from .players import Answer, Command, Lineup, Players
from .wire import receive_command, send_answer


@dataclass(frozen=True)
class Failure:
    """An answer: the command was not obeyed, for this reason."""

    error: NeuroplasticError
    traceback: str


def work(connection: Connection[Answer | Failure, Command], lineup: Lineup, board: Board) -> None:
    """Obey commands, with one answer to each, as long as there are any."""
    players: Players | None = None
    try:
        while True:
            try:
                command = receive_command(connection)
            except EOFError:
                return
            answer: Answer | Failure
            try:
                if players is None:  # here, so that an environment that cannot be made is an answer too
                    players = Players(lineup, board)
                answer = players.obey(command)
            except Exception as error:
                answer = Failure(_portable(error), traceback.format_exc())
            send_answer(connection, answer)
    finally:
        if players is not None:
            players.close()


def _portable(error: Exception) -> NeuroplasticError:
    """The error, if it is ours and can be sent; else a GameError that says as much."""
    if isinstance(error, NeuroplasticError):
        try:
            copy = pickle.loads(pickle.dumps(error))
        except Exception:
            copy = None
        if type(copy) is type(error) and str(copy) == str(error):
            return error
    return GameError(f"a worker process failed with {type(error).__name__}: {error}")
