"""What an antecedent remembers beside its tensors, as JSON in a byte tensor, which every tensor format can hold."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from ..decoding import decoded
from ..errors import ConfigError, at_least
from ..safe_json import MOST_BYTES, parse
from .frozen import Wish
from .growth import Birth
from .prunings import SavedPrunings

# Bytes that a network may need for its records: some at any size, several births of each set, each rule's number.
ROOM, PER_SET, PER_RULE = 2**20, 1024, 32


@dataclass(frozen=True)
class ExtraState:
    """Counters, births, dropped premises, and what is frozen: numbers of rules, and pairs (attribute, term)."""

    passes: int
    batches: int
    at_capacity: bool
    births: list[Birth]
    frozen: tuple[list[int], list[tuple[int, int]]] = field(default_factory=lambda: ([], []))
    prunings: SavedPrunings = field(default_factory=SavedPrunings)
    started: bool = False

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
        self.prunings.check(attributes, rules)
        if any(len(set(numbers)) < len(numbers) for numbers in self.frozen):
            raise ConfigError("frozen rules and sets must be named once each")
        for rule in self.frozen[0]:
            if not 0 <= rule < rules:
                raise ConfigError(f"frozen rules must be numbers from 0 to {rules - 1}, got {rule}")


def written(state: dict[str, Any]) -> Tensor:
    """The fields of an ExtraState as bytes."""
    return torch.frombuffer(bytearray(json.dumps(state).encode()), dtype=torch.uint8).clone()


def read(state: Tensor, attributes: int, max_terms: int, rules: int) -> ExtraState:
    """What `written` wrote of a network of this size, checked."""
    if state.dtype != torch.uint8 or state.dim() != 1:
        raise ConfigError(
            f"extra state must be a row of bytes, got {state.dtype} of shape {tuple(state.shape)}"
        )
    most = min(MOST_BYTES, ROOM + PER_SET * attributes * max_terms + PER_RULE * rules)
    saved = parse(state.cpu().numpy().tobytes(), most_bytes=most)
    found: ExtraState = decoded(ExtraState, saved, "extra state")
    found.check(attributes, max_terms, rules)
    return found
