"""Where a counterfactual may lead: numbers stay within limits, a category only becomes another one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import ConfigError
from ..rule_base import Indices, Numbers


@dataclass(frozen=True, eq=False)
class Choice:
    """A category: the attributes that speak of it, and their values for each of its own, which change together."""

    name: str
    attributes: tuple[int, ...]
    categories: tuple[str, ...]
    values: Numbers
    """(K, A): of the K categories, what each of the A attributes then is"""

    def __post_init__(self) -> None:
        if self.values.shape != (len(self.categories), len(self.attributes)):
            raise ConfigError(
                f"values of {self.name!r} must have shape {(len(self.categories), len(self.attributes))} "
                f"(categories, attributes), got {self.values.shape}"
            )

    def places(self, x: Numbers) -> Indices:
        """Which category each row of x (B, D) has, (B,); -1 where it is none of them."""
        same = (x[:, None, list(self.attributes)] == self.values).all(axis=2)
        places: Indices = np.where(same.any(axis=1), same.argmax(axis=1), -1)
        return places


@dataclass(frozen=True, eq=False)
class Limits:
    """Least and greatest value of each attribute, (D,) each, and the categories among the attributes."""

    low: Numbers
    high: Numbers
    choices: tuple[Choice, ...] = ()

    def reach(self, x: Numbers, unit: Numbers) -> Numbers:
        """Steps of `unit` (D,) that the attributes of x (B, D) may rise, then those they may fall, (B, 2 D).

        Below 0 for an attribute of a category, which takes no steps, and where a value is beyond the limit already.
        """
        reach: Numbers = np.concatenate([(self.high - x) / unit, (x - self.low) / unit], axis=1)
        fixed = [attribute for choice in self.choices for attribute in choice.attributes]
        reach[:, fixed] = reach[:, [attribute + len(self.low) for attribute in fixed]] = -1.0
        return reach
