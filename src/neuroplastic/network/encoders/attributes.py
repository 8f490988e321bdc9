"""Vectors of named attributes, each scaled to the range that it has in play."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ...errors import ConfigError, InputError
from ..observation import Observation

# Bounds beyond this are no bounds but a number format's largest number.
UNBOUNDED = 1e6
# Of an attribute without bounds, the range is that of random play, widened by this factor: good play goes further.
WIDENED = 1.5


@dataclass(frozen=True)
class AttributeEncoderConfig:
    """An attribute's range is the task's, or where that is unbounded, what random play shows."""

    clip: bool = field(
        default=False, metadata={"help": "whether values beyond an attribute's range count as at its end"}
    )

    def build(self, observation: Observation) -> AttributeEncoder:
        """The encoder for these attributes."""
        if observation.is_picture:
            raise ConfigError(
                f"the encoder 'attributes' takes vectors, this task shows pictures {observation.shape}; "
                "use --encoder pictures"
            )
        return AttributeEncoder(observation, clip=self.clip)


class AttributeEncoder(nn.Module):
    """Attributes (B, D) in their own units to features (B, D): `2 (x - low) / (high - low) - 1`.

    `settle` sets the range of attributes without bounds, `spread_over` that of all by how they vary in a recording;
    with `clip`, what lies outside is cut off.
    """

    low: Tensor
    high: Tensor

    def __init__(self, observation: Observation, *, clip: bool = False) -> None:
        super().__init__()
        self.clip = clip
        self.out_features = observation.shape[0]
        for name, given, far in (("low", observation.low, -1.0), ("high", observation.high, 1.0)):
            values = torch.tensor(given or (far * torch.inf,) * self.out_features, dtype=torch.float32)
            self.register_buffer(name, values)
        unbounded = (self.low < -UNBOUNDED) | (self.high > UNBOUNDED)
        self.low[unbounded], self.high[unbounded] = -torch.inf, torch.inf

    @property
    def unsettled(self) -> bool:
        """Whether some range still has to be seen in play."""
        return not bool(torch.isfinite(self.low).all())

    def settle(self, observations: NDArray[np.float32]) -> None:
        """Take ranges that are not known from observations (N, D) of random play."""
        seen = torch.from_numpy(np.asarray(observations, np.float32))
        least, greatest = seen.amin(dim=0), seen.amax(dim=0)
        middle = (least + greatest) / 2
        half = ((greatest - least) / 2 * WIDENED).clamp_min(1e-3)
        open_ = ~torch.isfinite(self.low)
        self.low.copy_(torch.where(open_, middle - half, self.low))
        self.high.copy_(torch.where(open_, middle + half, self.high))

    def spread_over(self, observations: NDArray[np.float32], deviations: float = 2.0) -> None:
        """Let features vary alike over observations (N, D): ranges are so many standard deviations around the means.

        A task may allow far more than is ever seen: an angular velocity of 28 where play has 3, which would be all but
        one feature's middle.
        """
        seen = torch.from_numpy(np.asarray(observations, np.float32)).double()
        middle, spread = seen.mean(dim=0), (deviations * seen.std(dim=0, correction=0)).clamp_min(1e-3)
        self.low.copy_(middle - spread)
        self.high.copy_(middle + spread)

    def feature_names(self, observation: Observation) -> list[str]:
        """The attributes' own names."""
        return list(observation.attribute_names)

    def scaling(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Offset and scale from features to raw units: `raw = offset + scale * feature`."""
        low, high = (bound.detach().cpu().double().numpy() for bound in (self.low, self.high))
        return (low + high) / 2, (high - low) / 2

    def forward(self, x: Tensor) -> Tensor:
        """Features (B, D) of attributes (B, D)."""
        if x.ndim != 2 or x.shape[1] != self.out_features:
            raise InputError(f"observations must have shape (B, {self.out_features}), got {tuple(x.shape)}")
        features = 2 * (x - self.low) / (self.high - self.low) - 1
        return features.clamp(-1, 1) if self.clip else features
