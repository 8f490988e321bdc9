"""JSON from files that strangers may have made: bounded in bytes, depth and numbers, and refused by name."""

from __future__ import annotations

import hashlib
import json
import math
import os
import stat
from collections.abc import Mapping
from typing import Any

import numpy as np

from .errors import NeuroplasticError

# Parsed, the worst JSON (`[],[],...`) takes some 25 times its bytes: half a gigabyte.
MOST_BYTES = 16 * 2**20
# What the package writes is nowhere deeper than 10.
MOST_DEPTH = 64
# Whole numbers beyond 64 bits fit no tensor, no array and no count.
MOST_DIGITS = 20

# How each byte outside of strings changes the depth.
_STEPS = np.zeros(256, dtype=np.int8)
_STEPS[list(b"[{")], _STEPS[list(b"]}")] = 1, -1


class JsonError(NeuroplasticError, ValueError):
    """A text is no JSON, or more of it than is read."""


def parse(
    text: str | bytes,
    *,
    finite: bool = True,
    most_bytes: int = MOST_BYTES,
    most_depth: int = MOST_DEPTH,
    most_digits: int = MOST_DIGITS,
) -> Any:
    """What a JSON text says; raises a JsonError, and nothing else, whatever the text is.

    `finite` refuses NaN and infinities, which Python writes and JSON does not have.
    """
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if len(raw) > most_bytes:
        raise JsonError(f"the JSON is longer than {most_bytes} bytes")
    if _depth(raw) > most_depth:  # the parser calls itself for each bracket, until the stack is used up
        raise JsonError(f"the JSON is nested deeper than {most_depth} levels")
    try:
        found = json.loads(
            raw.decode("utf-8"),
            parse_int=lambda digits: _whole(digits, most_digits),
            parse_float=_finite if finite else float,
            parse_constant=_no_number if finite else None,
        )
        if b"\\ud" in raw.lower():  # half a pair of surrogates is no text: it could not be printed
            json.dumps(found, ensure_ascii=False).encode("utf-8")
    except (json.JSONDecodeError, UnicodeError) as error:
        raise JsonError(f"it is no JSON: {error}") from error
    return found


def read(
    path: str | os.PathLike[str],
    *,
    finite: bool = True,
    most_bytes: int = MOST_BYTES,
    most_digits: int = MOST_DIGITS,
) -> Any:
    """What a JSON file says; a JsonError names neither folder nor file, for the caller knows what it means.

    A pipe or a device, which may have no end, is refused; of a file no more is read than allowed.
    """
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise JsonError("it is no regular file")
    with open(path, "rb") as file:
        raw = file.read(most_bytes + 1)
    return parse(raw, finite=finite, most_bytes=most_bytes, most_digits=most_digits)


def checksum(content: Mapping[str, Any]) -> str:
    """SHA-256 of an object's content as JSON, whatever the order of its fields; its own field `sha256` is left out."""
    counted = {name: value for name, value in content.items() if name != "sha256"}
    return hashlib.sha256(json.dumps(counted, sort_keys=True).encode()).hexdigest()


def _depth(text: bytes) -> int:
    """How deep brackets are nested, those inside of strings aside."""
    if text.count(b"[") + text.count(b"{") <= 1:
        return 1
    # Without what is escaped, a string lies between an odd quote and the next.
    marks = np.frombuffer(text.replace(b"\\\\", b"").replace(b'\\"', b""), dtype=np.uint8)
    outside = np.cumsum(marks == ord('"'), dtype=np.int32) % 2 == 0
    return int(np.cumsum(_STEPS[marks] * outside, dtype=np.int32).max(initial=0))


def _whole(digits: str, most: int) -> int:
    if len(digits.lstrip("-")) > most:
        raise JsonError(f"a number has {len(digits.lstrip('-'))} digits, more than {most}")
    return int(digits)


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise JsonError(f"a number is too great, {digits[:40]}")
    return number


def _no_number(word: str) -> float:
    raise JsonError(f"numbers must be finite, got {word}")
