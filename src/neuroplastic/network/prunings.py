"""Premises that rules drop for "any" and take up again: looked for now and then, and recorded like births."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from ..errors import ConfigError, at_least

if TYPE_CHECKING:
    from .antecedent import Antecedent

# Training passes between two looks at the rules' choices.
EVERY = 64
# So many events are kept, the latest; all are counted.
MOST = 10_000

_KINDS = ("taken up", "dropped")


@dataclass(frozen=True)
class Pruning:
    """One premise that a rule dropped for "any", or took up again, found at this training pass.

    `kind` is "dropped" or "taken up".
    """

    step: int
    rule: int
    attribute: int
    kind: str


@dataclass(frozen=True)
class SavedPrunings:
    """The events as extra state holds them, by columns, and how many there were in all."""

    total: int = 0
    steps: list[int] = field(default_factory=list)
    rules: list[int] = field(default_factory=list)
    attributes: list[int] = field(default_factory=list)
    dropped: list[int] = field(default_factory=list)

    def check(self, attributes: int, rules: int) -> None:
        """Raise a ConfigError unless a network of this size can have been through this."""
        columns = (self.steps, self.rules, self.attributes, self.dropped)
        count = len(self.steps)
        if any(len(column) != count for column in columns) or not count <= min(MOST, self.total):
            raise ConfigError(
                f"prunings must be columns of one length, at most {MOST} and the total {self.total}"
            )
        at_least("prunings.total", self.total, 0)
        for name, column, bound in zip(
            ("steps", "rules", "attributes", "dropped"), columns, (2**63, rules, attributes, 2), strict=True
        ):
            for value in column:
                if not 0 <= value < bound:
                    raise ConfigError(f"prunings.{name} must be at least 0 and below {bound}, got {value}")


class Prunings:
    """The latest events, and how many there were. Plain data: it travels in the module's extra state."""

    def __init__(self) -> None:
        self.total = 0
        self.latest: list[Pruning] = []

    def as_dict(self) -> dict[str, object]:
        """A form that JSON can hold."""
        return {
            "total": self.total,
            "steps": [event.step for event in self.latest],
            "rules": [event.rule for event in self.latest],
            "attributes": [event.attribute for event in self.latest],
            "dropped": [_KINDS.index(event.kind) for event in self.latest],
        }

    def restore(self, saved: SavedPrunings) -> None:
        """Take over what another remembers."""
        self.total = saved.total
        rows = zip(saved.steps, saved.rules, saved.attributes, saved.dropped, strict=True)
        self.latest = [Pruning(step, rule, attribute, _KINDS[kind]) for step, rule, attribute, kind in rows]

    def take_records(self, other: Prunings) -> None:
        """Remember what another does."""
        self.total, self.latest = other.total, list(other.latest)

    def note(self, step: int, before: Tensor, now: Tensor) -> None:
        """Record where the table (U, D) of premises that are "any" differs from what it was."""
        places = (before != now).nonzero()
        if not len(places):
            return
        self.total += len(places)
        places = places[-MOST:]
        kinds = now[places[:, 0], places[:, 1]].tolist()
        events = [
            Pruning(step, rule, attribute, _KINDS[dropped])
            for (rule, attribute), dropped in zip(places.tolist(), kinds, strict=True)
        ]
        self.latest = [*self.latest, *events][-MOST:]


@torch.no_grad()
def ignored(antecedent: Antecedent) -> Tensor:
    """Which premises (U, D) are "any" in evaluation."""
    return antecedent.any_mask.t().gather(0, antecedent.premises())
