"""The paper's encoder as a configuration."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...errors import ConfigError
from ..encoder import PICTURE, PictureEncoder
from ..observation import Observation


@dataclass(frozen=True)
class PaperEncoderConfig:
    """Four small convolutions from an 84 x 84 RGB picture to 1600 features."""

    dropout: float = field(default=0.2, metadata={"help": "dropout after every convolution"})
    feature_norm: bool = field(default=False, metadata={"help": "layer-normalise the 1600 features"})

    def __post_init__(self) -> None:
        if not 0 <= self.dropout < 1:
            raise ConfigError(f"dropout must lie in [0, 1), got {self.dropout!r}")

    def build(self, observation: Observation) -> PictureEncoder:
        """The encoder; it takes the paper's pictures only."""
        if observation.shape != PICTURE:
            raise ConfigError(
                f"the encoder 'paper' takes pictures {PICTURE}, this task shows {observation.shape}; "
                "use --encoder pictures for other pictures, attributes for vectors"
            )
        return PictureEncoder(dropout=self.dropout, feature_norm=self.feature_norm)
