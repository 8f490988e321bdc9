"""How much each class counts: as given, or so that all count the same."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import ConfigError
from .rows import Numbers


def check_class_weight(given: object) -> None:
    """Raise a ConfigError unless this is None, 'balanced', or a mapping from classes to weights of at least 0."""
    if given is None or (isinstance(given, str) and given == "balanced"):
        return
    if not isinstance(given, Mapping):
        raise ConfigError(
            f"class_weight must be None, 'balanced' or a dict from class to weight, got {given!r}"
        )
    for label, value in given.items():
        number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
        if not number or not 0 <= value < math.inf:
            raise ConfigError(f"class_weight of {label!r} must be a number of at least 0, got {value!r}")


def weighted_by_class(
    given: Mapping[Any, float] | str | None, classes: NDArray[Any], numbers: Numbers, weight: Numbers
) -> Numbers:
    """The weights of rows (N,) of class `numbers` (N,) times those of their classes.

    Balanced, all classes have the same weight in sum, and the sum of all stays. Classes not named count 1.
    """
    if given is None:
        return weight
    place = numbers.astype(np.int64)
    if isinstance(given, str):
        of_class = np.bincount(place, weight, minlength=len(classes))
        present = of_class > 0
        factor = np.where(present, weight.sum() / (present.sum() * np.where(present, of_class, 1.0)), 1.0)
    else:
        known = classes.tolist()
        strange = [label for label in given if label not in known]
        if strange:
            raise ConfigError(f"class_weight must name classes of y, {known}, got {strange[0]!r}")
        factor = np.array([float(given.get(label, 1.0)) for label in known])
    weighted: Numbers = weight * factor[place]
    if not (weighted > 0).any():
        raise ConfigError(f"class_weight must leave a class of y above 0, got {given!r}")
    return weighted
