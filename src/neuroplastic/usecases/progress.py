"""How a use case tells how far it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    """How far one stage of the work is; the stages of a use case follow each other."""

    stage: str
    """such as 'cross-validation'"""
    done: int
    total: int
    unit: str
    """what is counted, such as 'fold'"""
    figures: str = ""
    """how well it does so far, for people to read"""


OnStep = Callable[[Step], None]
"""Is told every step. What it raises ends the work: that is how a front end cancels, and nothing was written then."""


def nobody(_: Step) -> None:
    """Listens to no step."""
