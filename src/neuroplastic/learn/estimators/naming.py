"""Column and class names as a rule base takes them: one line, no quotes, none twice."""

from __future__ import annotations

from collections.abc import Iterable


def readable(names: Iterable[object]) -> list[str]:
    """The names as text without quotes, line breaks and blanks around; empty ones numbered, repeated ones too."""
    found: dict[str, None] = {}  # in order; of many names a list would be searched for each
    counts: dict[str, int] = {}
    for number, name in enumerate(names, 1):
        word = " ".join(str(name).replace("'", " ").split()) or f"unnamed {number}"
        unique = word
        while unique in found:
            counts[word] = counts.get(word, 1) + 1
            unique = f"{word} ({counts[word]})"
        found[unique] = None
    return list(found)
