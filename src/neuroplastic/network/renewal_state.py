"""What a network remembers of its renewals beside tensors, as JSON in a byte tensor."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field

import torch
from torch import Tensor

from ..decoding import decoded
from ..errors import ConfigError, at_least
from ..safe_json import parse

# So many rebirths are kept, the latest; all are counted.
MOST = 10_000
# Bytes that these need, and some.
MOST_BYTES = 256 * MOST


@dataclass(frozen=True)
class Rebirth:
    """One rule that was retired and reborn: at which training pass, its share of the firing before, and how great the
    gradient of the loss was at the row of data it began anew at."""

    step: int
    rule: int
    firing: float
    error: float


@dataclass
class RenewalState:
    """Training passes since the last look, and the rebirths: the latest, and how many in all."""

    since: int = 0
    total: int = 0
    latest: list[Rebirth] = field(default_factory=list)

    def check(self, rules: int) -> None:
        """Raise a ConfigError unless a network of so many rules can have been through this."""
        for name in ("since", "total"):
            at_least(f"renewals.{name}", getattr(self, name), 0)
        if len(self.latest) > min(MOST, self.total):
            raise ConfigError(f"renewals must keep at most {MOST} of {self.total}, got {len(self.latest)}")
        for event in self.latest:
            if not (0 <= event.rule < rules and event.step >= 0):
                raise ConfigError(f"renewals must be of rules from 0 to {rules - 1}, at a step, got {event}")


def written(state: RenewalState) -> Tensor:
    """The state as bytes."""
    return torch.frombuffer(bytearray(json.dumps(asdict(state)).encode()), dtype=torch.uint8).clone()


def read(state: Tensor, rules: int) -> RenewalState:
    """What `written` wrote for a network of so many rules, checked."""
    if state.dtype != torch.uint8 or state.dim() != 1:
        raise ConfigError(
            f"extra state must be a row of bytes, got {state.dtype} of shape {tuple(state.shape)}"
        )
    saved = parse(state.cpu().numpy().tobytes(), most_bytes=MOST_BYTES)
    found: RenewalState = decoded(RenewalState, saved, "renewals")
    found.check(rules)
    return found
