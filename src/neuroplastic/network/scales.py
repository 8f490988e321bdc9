"""What the values of an attribute are called: the part of its scale that a fuzzy set covers, in words with numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

# Names are told apart by up to so many digits.
MOST_DIGITS = 12


@dataclass(frozen=True)
class Scale:
    """The values that an attribute can have, and how people say them.

    >>> Scale("degrees", -45, 45, unseen=90).names([(3, 12), (60, 99)])
    ('3 to 12° to the right', 'not seen')
    """

    kind: Literal["number", "degrees", "count"] = "number"
    low: float = -math.inf
    """the least value of something that is seen"""
    high: float = math.inf
    """the greatest value of something that is seen"""
    unit: str = ""
    """follows a number"""
    unseen: float | None = None
    """the value, above `high`, of something that is not seen; None where there is always something to see"""

    def names(self, covered: Sequence[tuple[float, float]]) -> tuple[str, ...]:
        """Names of sets by the values (from, to) that they cover, with as many digits as tell them apart."""
        digits = 2
        while True:
            names = tuple(self.name(*ends, digits=digits) for ends in covered)
            if len(set(names)) == len(names):
                return names
            if digits == MOST_DIGITS:  # the same sets twice
                return tuple(
                    name if name not in names[:place] else f"{name}, number {place + 1}"
                    for place, name in enumerate(names)
                )
            digits += 1

    def name(self, low: float, high: float, *, digits: int = 2) -> str:
        """The name of what lies between two values."""
        missing = self.unseen is not None and high >= self.unseen
        if missing and low > self.high:
            return "not seen"
        whole = low <= self.low and (high >= self.high or missing)
        if whole:
            return "anything" if missing or self.unseen is None else "seen"
        tell = {"number": self._number, "degrees": self._degrees, "count": self._count}[self.kind]
        ends = (None if low <= self.low else low, None if missing or high >= self.high else high)
        return f"{tell(*ends, digits)}{' or not seen' if missing else ''}"

    def _number(self, low: float | None, high: float | None, digits: int) -> str:
        unit = f" {self.unit}" if self.unit else ""
        if low is None:
            return f"under {_short(high or 0.0, digits)}{unit}"
        if high is None:
            return f"over {_short(low, digits)}{unit}"
        return f"{_short(low, digits)} to {_short(high, digits)}{unit}"

    def _count(self, low: float | None, high: float | None, digits: int) -> str:
        if digits > 2:  # two sets that hold the same whole numbers
            return self._number(low, high, digits)
        least = math.ceil(self.low if low is None else low)
        if high is None:
            return f"at least {least}"
        most = math.floor(high)
        if least >= most:
            return f"{most}"
        return f"at most {most}" if low is None else f"{least} to {most}"

    def _degrees(self, low: float | None, high: float | None, digits: int) -> str:
        if low is None:
            far = _short(abs(high or 0.0), digits)
            return (
                f"to the left by over {far}°"
                if (high or 0.0) <= 0
                else f"to the left, or right by under {far}°"
            )
        if high is None:
            far = _short(abs(low), digits)
            return f"to the right by over {far}°" if low >= 0 else f"to the right, or left by under {far}°"
        left, right = _short(abs(low), digits), _short(abs(high), digits)
        if low >= 0:
            return f"{left} to {right}° to the right"
        return f"{right} to {left}° to the left" if high <= 0 else f"ahead ({left}° left to {right}° right)"


def _short(value: float, digits: int) -> str:
    text = f"{value:.{digits}g}"
    return f"{float(text):.0f}" if "e" in text and abs(value) < 1e9 and abs(value) >= 1 else text
