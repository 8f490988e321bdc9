"""How a use case tells how far it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Headway:
    """How far one stage of the work is; the stages of a use case follow each other."""

    stage: str
    """such as 'cross-validation'"""
    done: int
    total: int
    unit: str
    """what is counted, such as 'fold'"""
    figures: str = ""
    """how well it does so far, for people to read"""
    within: float = 0.0
    """how much of the next unit is done, where that is known"""


Listener = Callable[[Headway], None]
"""Is told again and again. What it raises ends the work: so a front end cancels, and nothing was written then."""


def nobody(_: Headway) -> None:
    """Does not listen."""
