"""What an antecedent remembers beside its tensors, as JSON in a byte tensor, which every tensor format can hold."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from .. import safe_json
from ..decoding import decoded
from ..errors import ConfigError, at_least
from .frozen import Wish
from .neurogenesis import Birth


@dataclass(frozen=True)
class ExtraState:
    """Counters, births, and what is frozen: numbers of rules, and pairs (attribute, term)."""

    passes: int
    batches: int
    at_capacity: bool
    births: list[Birth]
    frozen: tuple[list[int], list[tuple[int, int]]] = field(default_factory=lambda: ([], []))

    @property
    def wish(self) -> Wish:
        """What is frozen, as the network takes it."""
        rules, sets = self.frozen
        return Wish(tuple(rules), tuple(sets))

    def check(self, attributes: int, max_terms: int, rules: int) -> None:
        """Raise a ConfigError unless a network of this size can have been through this."""
        for name in ("passes", "batches"):
            at_least(name, getattr(self, name), 0)
        sets = [(birth.attribute, birth.term) for birth in self.births]
        for what, places in (("births", sets), ("frozen sets", self.frozen[1])):
            for attribute, term in places:
                if not (0 <= attribute < attributes and 0 <= term < max_terms):
                    raise ConfigError(
                        f"{what} must lie in {attributes} attributes of {max_terms} sets, got {(attribute, term)}"
                    )
        for birth in self.births:
            if birth.width <= 0 or birth.step < 0 or birth.count < 0:
                raise ConfigError(f"a birth must have a width above 0, a step and a count, got {birth}")
        for rule in self.frozen[0]:
            if not 0 <= rule < rules:
                raise ConfigError(f"frozen rules must be numbers from 0 to {rules - 1}, got {rule}")


def written(state: dict[str, Any]) -> Tensor:
    """The fields of an ExtraState as bytes."""
    return torch.frombuffer(bytearray(json.dumps(state).encode()), dtype=torch.uint8).clone()


def read(state: Tensor) -> ExtraState:
    """What `written` wrote, checked by type."""
    if state.dtype != torch.uint8 or state.dim() != 1:
        raise ConfigError(
            f"extra state must be a row of bytes, got {state.dtype} of shape {tuple(state.shape)}"
        )
    found: ExtraState = decoded(ExtraState, safe_json.parse(state.cpu().numpy().tobytes()), "extra state")
    return found
