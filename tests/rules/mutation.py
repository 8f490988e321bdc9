"""A small mutation fuzzer: a reader of text or bytes must answer damaged input with named errors only."""

import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from neuroplastic.errors import NeuroplasticError

Content = TypeVar("Content", str, bytes)

# A reading that takes longer than this is a hang, even on a busy machine.
PATIENCE = 20.0

_PIECES = [
    *("0", "-1", "1e999", "nan", "inf", "1e-400", "99999999999999999999", "0x1F", "1.2.3", "--", "+"),
    *("'", '"', "(", ")", "[", "]", "{", "}", "<", ">", "&", ";", ":", ",", "#", "=", "*", "/", "\\", "%"),
    *(" ", "\n", "\r\n", "\t", "\0", "\x0b", "\ufeff", "\u2028", "\u00e9", "\u0131", "\U0001f600", "\u0661"),
    *("IF", "THEN", "AND", "OR", "NOT", "IS", "WITH", "RULE", "any", "more", "null", "true", "((((" * 50),
]


def mutate(
    seed_texts: Sequence[Content],
    target: Callable[[Content], Any],
    seconds: float,
    generator: np.random.Generator,
    allowed: tuple[type[BaseException], ...] = (NeuroplasticError,),
) -> int:
    """Damage seeds (all str or all bytes) again and again for `seconds` and hand the results to `target`.

    Whatever is raised and not `allowed`, and whatever takes longer than PATIENCE, fails with the input in the
    message. Gives the number of inputs that were tried.
    """
    tried, end = 0, time.monotonic() + seconds
    while not tried or time.monotonic() < end:
        content = seed_texts[generator.integers(len(seed_texts))]
        for _ in range(1 + int(generator.geometric(0.4))):
            content = damaged(content, seed_texts, generator)
        start = time.monotonic()
        try:
            target(content)
        except allowed:
            pass
        except Exception as error:
            raise AssertionError(
                f"{type(error).__name__} is not an allowed error; input: {content!r}"
            ) from error
        taken = time.monotonic() - start
        assert taken < PATIENCE, f"reading took {taken:.1f} s; input: {content!r}"
        tried += 1
    return tried


def damaged(content: Content, seeds: Sequence[Content], generator: np.random.Generator) -> Content:
    """One change: cut, repeat, move, insert, overwrite, splice or truncate."""
    start, stop = sorted(int(place) for place in generator.integers(len(content) + 1, size=2))
    if generator.random() < 0.6:
        stop = min(stop, start + int(generator.integers(1, 12)))  # small wounds get past the first checks
    before, part, after = content[:start], content[start:stop], content[stop:]
    action = int(generator.integers(7))
    if action == 0:
        return before + after
    if action == 1:
        return before + part * int(generator.integers(2, 5)) + after
    if action == 2:
        place = int(generator.integers(len(before) + 1))
        return before[:place] + part + before[place:] + after
    if action == 3:
        return before + _piece(content, generator) + part + after
    if action == 4:
        return before + _piece(content, generator) + after
    if action == 5:
        other = seeds[generator.integers(len(seeds))]
        return before + other[int(generator.integers(len(other) + 1)) :]
    return before


def _piece(like: Content, generator: np.random.Generator) -> Content:
    if isinstance(like, bytes):
        if generator.random() < 0.5:
            return generator.bytes(int(generator.integers(1, 4)))
        return _PIECES[generator.integers(len(_PIECES))].encode()
    if generator.random() < 0.3:
        code = int(generator.integers(0x110000))
        return chr(code)
    return _PIECES[generator.integers(len(_PIECES))]
