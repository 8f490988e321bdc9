"""What goes through the pipe between an arena and a worker: nearly always nothing but that it is time.

A step in every game and its answer are empty messages, a step in a group of them is one byte, its number: to pickle
them and back took longer than many a game's step.
"""

from __future__ import annotations

import pickle
from multiprocessing.connection import Connection
from typing import Any

from .players import Advance

_STEPS = {b"": Advance(), b"\0": Advance(group=0), b"\1": Advance(group=1)}
_MESSAGES = {step: message for message, step in _STEPS.items()}


def send_command(pipe: Connection[Any, Any], command: object) -> None:
    """Send a command to a worker."""
    step = _MESSAGES.get(command) if isinstance(command, Advance) else None
    pipe.send_bytes(pickle.dumps(command) if step is None else step)


def receive_command(pipe: Connection[Any, Any]) -> Any:
    """The next command, waited for; EOFError: there will be none."""
    message = pipe.recv_bytes()
    return _STEPS[message] if message in _STEPS else pickle.loads(message)


def send_answer(pipe: Connection[Any, Any], answer: object) -> None:
    """Send what came of a command."""
    pipe.send_bytes(b"" if answer == () else pickle.dumps(answer))


def receive_answer(pipe: Connection[Any, Any]) -> Any:
    """What came of a command, waited for; EOFError: the worker is gone."""
    message = pipe.recv_bytes()
    return pickle.loads(message) if message else ()
