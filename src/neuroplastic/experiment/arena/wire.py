"""What goes through the pipe between an arena and a worker: nearly always nothing but that it is time.

A message is its length in four bytes and what it says, as `multiprocessing` writes it. A step in every game and its
answer are empty, a step in a group of them is one byte, its number. These are written and read without the ways of
`Connection`, which took as long as the system did: there are some ten thousand a second.
"""

from __future__ import annotations

import os
import pickle
import struct
from multiprocessing.connection import Connection
from typing import Any

from .players import Advance

_HEAD = struct.Struct("!i")
_EMPTY = _HEAD.pack(0)
_STEPS = {b"": Advance(), b"\0": Advance(group=0), b"\1": Advance(group=1)}
_MESSAGES = {step.group: _HEAD.pack(len(message)) + message for message, step in _STEPS.items()}


def send_command(pipe: Connection[Any, Any], command: object) -> None:
    """Send a command to a worker."""
    if isinstance(command, Advance) and not command.skipped:
        os.write(pipe.fileno(), _MESSAGES[command.group])
    else:
        pipe.send_bytes(pickle.dumps(command))


def receive_command(pipe: Connection[Any, Any]) -> Any:
    """The next command, waited for; EOFError: there will be none."""
    message = _message(pipe.fileno())
    return _STEPS[message] if message in _STEPS else pickle.loads(message)


def send_answer(pipe: Connection[Any, Any], answer: object) -> None:
    """Send what came of a command."""
    if answer == ():
        os.write(pipe.fileno(), _EMPTY)
    else:
        pipe.send_bytes(pickle.dumps(answer))


def receive_answer(pipe: Connection[Any, Any]) -> Any:
    """What came of a command, waited for; EOFError: the worker is gone."""
    message = _message(pipe.fileno())
    return pickle.loads(message) if message else ()


def _message(handle: int) -> bytes:
    head = _bytes(handle, _HEAD.size)
    return b"" if head == _EMPTY else _bytes(handle, _HEAD.unpack(head)[0])


def _bytes(handle: int, count: int) -> bytes:
    """So many bytes, waited for."""
    found = os.read(handle, count)
    while len(found) < count:
        more = os.read(handle, count - len(found)) if found else b""
        if not more:
            raise EOFError
        found += more
    return found
