"""Convolutions for pictures of any size, layer-normalised, to few features."""

from __future__ import annotations

from dataclasses import dataclass, field

from torch import Tensor, nn

from ...errors import ConfigError, at_least
from ..observation import Observation
from .normed import NormedConvolutions, brightness, check_picture, normed

# A picture at least so high and wide begins with larger steps.
LARGE = 64
# A side below this is not halved any more.
SMALL = 8


@dataclass(frozen=True)
class PictureEncoderConfig:
    """Convolutions with layer norm, and a linear layer to the features."""

    channels: tuple[int, ...] = field(
        default=(32, 64, 64), metadata={"help": "channels of the convolutions, such as 32,64,64"}
    )
    features: int = field(default=512, metadata={"help": "features that the pictures become"})

    def __post_init__(self) -> None:
        at_least("features", self.features, 1)
        if not self.channels:
            raise ConfigError("channels must name at least one convolution, got none")
        for number, count in enumerate(self.channels):
            at_least(f"channels[{number}]", count, 1)

    def build(self, observation: Observation) -> AnyPictureEncoder:
        """The encoder for these pictures."""
        check_picture("pictures", observation)
        return AnyPictureEncoder(self, observation.shape)


class AnyPictureEncoder(nn.Module):
    """Pictures (B, height, width, channels), uint8, to features (B, D) of mean 0 and variance 1.

    The first convolution of a large picture has size 8 and stride 4, the second 4 and 2; the others have size 3, and
    stride 2 as long as the picture is not small. Each is followed by layer norm over its planes and ReLU.
    """

    def __init__(self, config: PictureEncoderConfig, shape: tuple[int, ...]) -> None:
        super().__init__()
        self.shape, self.out_features = shape, config.features
        layers: list[nn.Module] = []
        large = min(shape[:2]) >= LARGE
        before, height, width = shape[2], shape[0], shape[1]
        for number, after in enumerate(config.channels):
            size, stride = _step(number, min(height, width), large=large)
            padding = 1 if size == 3 else 0
            layers += normed(nn.Conv2d(before, after, size, stride, padding))
            before = after
            height, width = ((side + 2 * padding - size) // stride + 1 for side in (height, width))
        self.convolutions = NormedConvolutions(*layers)
        self.linear = nn.Linear(before * height * width, config.features)
        self.norm = nn.LayerNorm(config.features)

    def feature_names(self, observation: Observation) -> list[str]:
        """feature 1, feature 2, ...: what they stand for is learned."""
        return [f"feature {number + 1}" for number in range(self.out_features)]

    def scaling(self) -> None:
        """Features have no units."""

    def forward(self, pictures: Tensor) -> Tensor:
        """Features (B, D) of pictures (B, height, width, channels)."""
        x = brightness(pictures, self.shape, self.linear.weight.dtype)
        features: Tensor = self.norm(self.linear(self.convolutions(x).flatten(1)))
        return features


def _step(number: int, side: int, *, large: bool) -> tuple[int, int]:
    """Size and stride of a convolution."""
    if large and number < 2:
        return (8, 4) if number == 0 else (4, 2)
    return 3, 2 if side > SMALL and not large else 1
