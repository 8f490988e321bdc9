"""What an agent sees: pictures, or a vector of attributes with names."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import ConfigError
from .scales import Scale


@dataclass(frozen=True)
class Observation:
    """Shape and meaning of one observation.

    A picture is uint8, (height, width, channels), rows first; a vector is float32, (attributes,), and its attributes
    have names, ranges where they are known (minus and plus infinity where not), and scales where people have words for
    their values.
    """

    shape: tuple[int, ...]
    names: tuple[str, ...] = ()
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    scales: tuple[Scale, ...] = ()

    def __post_init__(self) -> None:
        if len(self.shape) not in (1, 3) or any(size < 1 for size in self.shape):
            raise ConfigError(
                f"an observation must be a picture (height, width, channels) or a vector, got shape {self.shape}"
            )
        for field in ("names", "low", "high", "scales"):
            given = getattr(self, field)
            if given and (self.is_picture or len(given) != self.shape[0]):
                raise ConfigError(
                    f"{field} must have one entry for each of {self.shape} attributes, got {given}"
                )

    @property
    def is_picture(self) -> bool:
        """Whether this is a picture; else it is a vector of attributes."""
        return len(self.shape) == 3

    @property
    def attribute_names(self) -> tuple[str, ...]:
        """The attributes' names; x1, x2, ... where none were given. A picture has none."""
        if self.is_picture:
            return ()
        return self.names or tuple(f"x{number + 1}" for number in range(self.shape[0]))
