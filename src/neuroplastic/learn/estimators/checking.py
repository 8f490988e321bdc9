"""The parameters of an estimator, checked before it learns."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from ...errors import ConfigError, at_least, in_short
from ...rules.true_names import words_of
from .readable.limits import Limits

if TYPE_CHECKING:
    from .base import NeuroFuzzyEstimator


def check_parameters(given: NeuroFuzzyEstimator) -> None:
    """Raise a ConfigError that names the first parameter that no fit can use."""
    if not _is_auto(given.rules):
        at_least("rules", _whole(given.rules), 1)
    if not _is_auto(given.terms):
        at_least("terms", _whole(given.terms), 1)
    if given.max_terms is not None:
        at_least("max_terms", _whole(given.max_terms), 1 if _is_auto(given.terms) else int(given.terms))
    at_least("batch_size", _whole(given.batch_size), 1)
    at_least("patience", _whole(given.patience), 1)
    if given.max_updates is not None:
        at_least("max_updates", _whole(given.max_updates), 1)
    for name in ("entmax_alpha", "ridge", "shrinkage", "learning_rate", "validation_fraction"):
        if not isinstance(getattr(given, name), Real):
            raise ConfigError(f"{name} must be a number, got {in_short(repr(getattr(given, name)), 80)}")
    if not 1 <= given.entmax_alpha <= 2:
        raise ConfigError(f"entmax_alpha must lie between 1 and 2, got {given.entmax_alpha!r}")
    for name, value in (("ridge", given.ridge), ("shrinkage", given.shrinkage)):
        if not 0 <= value < math.inf:
            raise ConfigError(f"{name} must be at least 0, got {value!r}")
    if not 0 < given.learning_rate < math.inf:
        raise ConfigError(f"learning_rate must be above 0, got {given.learning_rate!r}")
    if not 0 < given.validation_fraction < 1:
        raise ConfigError(f"validation_fraction must lie between 0 and 1, got {given.validation_fraction!r}")
    check_auto("early_stopping", given.early_stopping)
    if given.words is not None and not isinstance(given.words, Mapping):
        raise ConfigError(f"words must map columns to two or three words, got {given.words!r}")
    for name, words in (given.words or {}).items():
        words_of(words, name)
    if not isinstance(given.readable, (bool, np.bool_)):
        raise ConfigError(f"readable must be True or False, got {given.readable!r}")
    limits = [_whole(limit) for limit in (given.max_rules, given.max_premises, given.max_size)]
    if not given.readable and any(limit is not None for limit in limits):
        raise ConfigError(
            "max_rules, max_premises and max_size are limits of readable=True; set it, or leave them out"
        )
    Limits.given(*limits)


def check_auto(name: str, value: object) -> None:
    """Raise a ConfigError unless a parameter is True, False or 'auto'."""
    if not _is_auto(value) and not (isinstance(value, (int, np.bool_)) and value in (0, 1)):
        raise ConfigError(f"{name} must be True, False or 'auto', got {in_short(repr(value), 80)}")


def _is_auto(value: object) -> bool:
    return isinstance(value, str) and value == "auto"  # an array would be compared element by element


def _whole(value: object) -> object:
    """NumPy's whole numbers, which a grid search hands over, as Python's."""
    return int(value) if isinstance(value, np.integer) else value
