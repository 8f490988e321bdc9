"""Column and class names as a rule base takes them: one line, no quotes, none twice."""

from __future__ import annotations

from collections.abc import Iterable


def readable(names: Iterable[object]) -> list[str]:
    """The names as text without quotes, line breaks and blanks around; empty ones numbered, repeated ones too."""
    found: list[str] = []
    for number, name in enumerate(names, 1):
        word = " ".join(str(name).replace("'", " ").split()) or f"unnamed {number}"
        unique, count = word, 2
        while unique in found:
            unique, count = f"{word} ({count})", count + 1
        found.append(unique)
    return found
