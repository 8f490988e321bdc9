"""The words people use for a network's inputs, outputs and fuzzy sets; they change nothing that it computes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Vocabulary:
    """Names of inputs and outputs, and by variable the names of its sets in order of their centres.

    Where births have changed the number of a variable's sets, its words no longer fit and are not used.
    """

    features: tuple[str, ...]
    outputs: tuple[str, ...]
    terms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """A form that JSON can hold."""
        terms = {name: list(words) for name, words in self.terms.items()}
        return {"features": list(self.features), "outputs": list(self.outputs), "terms": terms}
