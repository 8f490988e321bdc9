"""Whether a finished trial has all the figures that one of ours has: a storage may be damaged."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from typing import Any

from optuna.trial import FrozenTrial

from ..errors import in_short
from .settings import DIRECTIONS, StudyError

# What a finished trial of ours says of itself.
_NOTED: Mapping[str, type | tuple[type, ...]] = {
    "protocol": str,
    "slot": int,
    "seed": int,
    "best_epoch": (int, float),
    "seconds": (int, float),
    "returns": list,
}


def check_figures(study: str, trial: FrozenTrial) -> None:
    """Raise a StudyError unless a finished trial of ours has all that one has."""
    values = trial.values or []
    numbers = [value for value in values if isinstance(value, float) and math.isfinite(value)]
    if len(values) != len(DIRECTIONS) or numbers != values:
        raise StudyError(
            f"study {study!r} is damaged: trial {trial.number} is complete, but its mean, SD and slope are "
            f"{in_short(values, 80)}"
        )
    unnamed = [name for name in trial.params if not isinstance(name, str)]
    if unnamed:
        raise StudyError(
            f"study {study!r} is damaged: trial {trial.number} has a parameter called {unnamed[0]!r}"
        )
    for name, kind in _NOTED.items():
        if not isinstance(trial.user_attrs.get(name), kind):
            found = in_short(repr(trial.user_attrs.get(name)), 60)
            raise StudyError(f"study {study!r} is damaged: {name} of its trial {trial.number} is {found}")
    for name, told in (
        ("epochs", _means(trial.user_attrs.get("epochs"))),
        ("new_returns", trial.user_attrs.get("new_returns", [0.0])),
    ):
        if not _are_numbers(told):
            found = in_short(repr(trial.user_attrs.get(name)), 60)
            raise StudyError(f"study {study!r} is damaged: {name} of its trial {trial.number} is {found}")


def _means(epochs: Any) -> Any:
    """The epochs' means, or what is there instead."""
    try:
        return [epoch["mean"] for epoch in epochs]
    except (KeyError, TypeError):
        return None


def _are_numbers(found: Any) -> bool:
    """Whether it is a list of finite numbers, at least one."""
    return (
        isinstance(found, list)
        and bool(found)
        and all(isinstance(value, (int, float)) and abs(value) <= sys.float_info.max for value in found)
    )
