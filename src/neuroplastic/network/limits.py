"""Where fuzzy sets begin, and how far training may take them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from ..errors import choose, within
from ..fuzzy.membership import raw_from_widths
from .starting import Range

if TYPE_CHECKING:
    from .antecedent import Antecedent


@dataclass(frozen=True)
class Sets:
    """Where fuzzy sets begin, and how far they may go."""

    start: str = field(
        default="range",
        metadata={
            "help": "where the first sets and rules lie: over the 'range' of inputs, or on the first 'data'"
        },
    )
    widest: float | None = field(
        default=None,
        metadata={"help": "a width is at most this share of its attribute's range; none: no limit"},
    )
    margin: float | None = field(
        default=None,
        metadata={
            "help": "a centre leaves its attribute's range by at most this share of it; none: no limit"
        },
    )

    def __post_init__(self) -> None:
        choose("sets.start", self.start, ("range", "data"))
        if self.widest is not None:
            within("sets.widest", self.widest, 0, open_low=True)
        if self.margin is not None:
            within("sets.margin", self.margin, 0)


class Limits(nn.Module):
    """The range of each attribute, (D,): `input_range`, or that of the data that the rules were started on."""

    low: Tensor
    high: Tensor

    def __init__(self, config: Sets, attributes: int, input_range: Range, like: Tensor) -> None:
        super().__init__()
        self.config = config
        for name, end in zip(("low", "high"), input_range, strict=True):
            value = like.new_empty(attributes)
            if not like.is_meta:
                value.copy_(torch.as_tensor(end, dtype=torch.float64, device="cpu"))
            self.register_buffer(name, value)

    @property
    def extent(self) -> Tensor:
        """From the lowest to the highest value, (D,); 1 for an attribute that does not vary."""
        extent = self.high - self.low
        return extent.where(extent > 0, 1.0)

    @torch.no_grad()
    def enforce(self, antecedent: Antecedent) -> None:
        """Bring sets that went too far back, in place: `widths <= widest * extent`, and
        `low - margin * extent <= centers <= high + margin * extent`.

        "Any" is exempt, and frozen sets stay as they are. A second time changes nothing. Writes through `.data`, as
        an optimizer's step would between two passes.
        """
        if self.config.widest is None and self.config.margin is None:
            return
        movable, extent = antecedent.covering_mask, self.extent
        if antecedent.frozen is not None:
            movable = movable & ~antecedent.frozen.sets
        if self.config.widest is not None:
            raw = antecedent.raw_widths.data
            most = raw_from_widths(self.config.widest * extent).to(raw).unsqueeze(1)
            raw.copy_(torch.minimum(raw, most).where(movable, raw))
        if self.config.margin is not None:
            centers, room = antecedent.centers.data, self.config.margin * extent
            low, high = ((end).to(centers).unsqueeze(1) for end in (self.low - room, self.high + room))
            centers.copy_(centers.clamp(low, high).where(movable, centers))
