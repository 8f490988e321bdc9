"""How many rules and premises a readable model may have."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ....errors import at_least

# Without limits of its own a model has at most so many premises in all, and so many a rule.
MOST_PREMISES, MOST_OF_A_RULE = 60, 4
# Whoever allows fewer premises in all than this wants so few rules that teachers were not seen to help.
ROOM = 40
# Leaves to start from for each premise there may be in the end: what is shed later is chosen better than what was
# never tried, up to a point.
LEAVES = 0.55


@dataclass(frozen=True)
class Limits:
    """Hard limits; None where there is no limit."""

    rules: int | None = None
    premises: int = MOST_OF_A_RULE
    """of one rule"""
    size: int = MOST_PREMISES
    """premises of all rules together"""

    @classmethod
    def given(cls, rules: Any, premises: Any, size: Any) -> Limits:
        """From the estimator's `max_rules`, `max_premises` and `max_size`, checked."""
        for name, value in (("max_rules", rules), ("max_premises", premises), ("max_size", size)):
            if value is not None:
                at_least(name, value, 1)
        return cls(
            None if rules is None else int(rules),
            MOST_OF_A_RULE if premises is None else int(premises),
            MOST_PREMISES if size is None else int(size),
        )

    @property
    def are_wide(self) -> bool:
        """Whether they leave at least as much room as teachers need."""
        return self.rules is None and self.premises >= MOST_OF_A_RULE and self.size >= ROOM

    @property
    def leaves(self) -> int:
        """Leaves of the tree to start from."""
        wanted = math.floor(LEAVES * self.size) + 1
        return max(2, wanted if self.rules is None else min(wanted, 2 * self.rules))
