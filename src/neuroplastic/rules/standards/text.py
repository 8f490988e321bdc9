"""Numbers as the formats spell them: checked, limited in length, the same in every locale."""

from __future__ import annotations

import math
import re

from ..rule_base import Variable
from .errors import FileFormatError

# A file larger than this is refused unread.
MOST_CHARACTERS = 64 * 2**20
# A number's spelling needs 25 characters; far longer ones take time that grows faster than their length.
_LONGEST_NUMBER = 100
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)


def number(text: str, what: str, line: int | None, column: int | None = None) -> float:
    """The finite number that `text` spells, else a FileFormatError that says what it should have been."""
    text = text.strip()
    if len(text) > _LONGEST_NUMBER or not _NUMBER.fullmatch(text):
        raise FileFormatError(f"{what} must be a number, got {shown(text)}", line, column)
    value = float(text)
    if not math.isfinite(value):
        raise FileFormatError(f"{what} must be finite, got {shown(text)}", line, column)
    return value


def shown(text: str) -> str:
    """A piece of a file in an error message: quoted, and cut where it is long."""
    return repr(text if len(text) <= 40 else text[:37] + "...")


def check_length(text: str | bytes) -> None:
    """Refuse a file that is larger than any sensible rule base."""
    if len(text) > MOST_CHARACTERS:
        raise FileFormatError(
            f"the file has {len(text)} characters, more than the {MOST_CHARACTERS} that are read"
        )


def domain(variable: Variable) -> tuple[float, float]:
    """The range written for an input: ten widths beyond its outermost sets, so that nothing of them is cut off."""
    reach = [(t.center - 10 * t.width, t.center + 10 * t.width) for t in variable.terms if t.width < 1e14]
    low, high = min((r[0] for r in reach), default=-1.0), max((r[1] for r in reach), default=1.0)
    return (low, high) if math.isfinite(low) and math.isfinite(high) and low < high else (-1e300, 1e300)
