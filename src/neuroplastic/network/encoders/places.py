"""Where things are: planes that respond to something become its column, its row and its strength."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from ...errors import at_least
from ..observation import Observation
from .normed import NormedConvolutions, brightness, check_picture, normed

# A picture at least so high and wide begins with larger steps.
LARGE = 32
# The factor on responses before their softmax, where a sharpness of 1 is what all begin with.
SHARP = 3.0
# Variance of responses below which nothing stands out.
EVEN = 1e-4
# Columns and rows run from -EDGE to EDGE, about as far as other encoders' features, of variance 1, go.
EDGE = 2.0


@dataclass(frozen=True)
class PlacesEncoderConfig:
    """Two convolutions with layer norm, and a plane for each thing that is looked for."""

    things: int = field(
        default=32, metadata={"help": "things that are looked for; each has a column, a row and a strength"}
    )
    hidden_channels: int = field(default=32, metadata={"help": "channels of the convolutions before"})

    def __post_init__(self) -> None:
        at_least("things", self.things, 1)
        at_least("hidden_channels", self.hidden_channels, 1)

    def build(self, observation: Observation) -> PlacesEncoder:
        """The encoder for these pictures."""
        check_picture("places", observation)
        return PlacesEncoder(self, observation.shape)


class PlacesEncoder(nn.Module):
    """Pictures (B, height, width, channels), uint8, to features (B, 3 K): where K things are, and how clearly seen.

    With the responses z_k of plane k, of mean 0 and variance 1 over its cells, which have columns x and rows y, and
    with w_k = softmax(3 s_k z_k),

        column_k = sum w_k x,    row_k = sum w_k y,    strength_k = sum w_k z_k,

    so a feature is a place that can be pointed at ("feature points", Levine et al. 2016; learned of rewards alone,
    Boney et al. 2021), or tells how much a thing stands out. The sharpness s_k of each is learned. Columns and rows run
    from -2, left and top, to 2, strengths from 0 (of nothing) to about 8.

    The first convolution has size 8 and stride 4 (of a small picture: size 3), the second size 3; each is followed by
    layer norm over its planes and ReLU.
    """

    grid: Tensor

    def __init__(self, config: PlacesEncoderConfig, shape: tuple[int, ...]) -> None:
        super().__init__()
        self.shape, self.things, self.out_features = shape, config.things, 3 * config.things
        channels = config.hidden_channels
        large = min(shape[:2]) >= LARGE
        size, self._stride, padding = (8, 4, 0) if large else (3, 1, 1)
        self._first_middle = (size - 1) / 2 - padding  # of the first cell, in pixels
        first = nn.Conv2d(shape[2], channels, size, self._stride, padding)
        self.convolutions = NormedConvolutions(
            *normed(first), *normed(nn.Conv2d(channels, channels, 3, 1, 1))
        )
        # Its bias has no effect, for the mean of responses is taken away.
        self.responses = nn.Conv2d(channels, config.things, 1)
        self.sharpness = nn.Parameter(torch.ones(config.things))
        height, width = self.cells = tuple(
            (side + 2 * padding - size) // self._stride + 1 for side in shape[:2]
        )
        rows, columns = (
            torch.linspace(-EDGE, EDGE, side) if side > 1 else torch.zeros(1) for side in (height, width)
        )
        column_row = torch.cartesian_prod(rows, columns).flip(1)  # (cells, 2)
        self.register_buffer("grid", column_row, persistent=False)

    def feature_names(self, observation: Observation) -> list[str]:
        """What they stand for is learned, but where it is can be pointed at."""
        parts = ("column of thing {} (%)", "row of thing {} (%)", "strength of thing {}")
        return [part.format(number + 1) for part in parts for number in range(self.things)]

    def scaling(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Offset and scale to raw units: columns and rows in percent of the picture, from the left and from the top."""
        middle, per_unit = (100 / np.array(self.shape[1::-1]) * part for part in self._pixels())
        edge = 50 / np.array(self.shape[1::-1])  # half a pixel, from its middle to its left and upper edge
        offset = np.repeat((*(middle + edge), 0.0), self.things)
        return offset, np.repeat((*per_unit, 1.0), self.things)

    def _pixels(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Of columns and of rows: the pixel that 0 lies on, and pixels for each 1."""
        cells = np.array(self.cells[::-1], dtype=np.float64)  # across, down
        across = np.maximum(cells - 1, 1)  # of a single cell, whose place is always 0, any will do
        return self._first_middle + self._stride * (cells - 1) / 2, self._stride * across / (2 * EDGE)

    @property
    def last_planes(self) -> nn.Module:
        """What heat maps are made of: the convolution before the responses, whose gradients are 0 on average."""
        return self.convolutions[3]

    def attention(self, pictures: Tensor) -> tuple[Tensor, Tensor]:
        """Of each thing (B, K, cells), rows first: where it is looked for, and the responses there."""
        x = brightness(pictures, self.shape, self.sharpness.dtype)
        found = self.responses(self.convolutions(x)).flatten(2)
        responses = functional.layer_norm(found, found.shape[-1:], eps=EVEN)
        return torch.softmax((SHARP * self.sharpness)[:, None] * responses, dim=-1), responses

    def forward(self, pictures: Tensor) -> Tensor:
        """Features (B, 3 K): all columns, all rows, all strengths."""
        attention, responses = self.attention(pictures)
        places = attention @ self.grid.to(attention.dtype)  # (B, K, 2)
        strengths = (attention * responses).sum(dim=-1)
        return torch.cat((places[..., 0], places[..., 1], strengths), dim=1)

    def points(self, features: Tensor) -> Tensor:
        """Where the things of features (B, 3 K) are (B, K, 3): columns and rows in pixels, and strengths."""
        found: Tensor = features.unflatten(1, (3, self.things)).mT  # type: ignore[no-untyped-call]
        middle, per_unit = (
            found.new_tensor([*part, rest]) for part, rest in zip(self._pixels(), (0, 1), strict=True)
        )
        return middle + per_unit * found
