"""From the units a network sees to the units people use: `raw = offset + scale * seen`, per column."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import ConfigError

Vector = NDArray[np.float64]


class Scaling:
    """An affine map per column, `raw = offset + scale * seen`, with scale above 0."""

    def __init__(self, offset: ArrayLike, scale: ArrayLike) -> None:
        self.offset: Vector = np.array(offset, dtype=np.float64)
        self.scale: Vector = np.array(scale, dtype=np.float64)
        if self.offset.ndim != 1 or self.offset.shape != self.scale.shape:
            raise ConfigError(
                f"a scaling needs one offset and one scale per column, got {self.offset.shape} and {self.scale.shape}"
            )
        if not (np.isfinite(self.offset).all() and np.isfinite(self.scale).all() and (self.scale > 0).all()):
            raise ConfigError("a scaling needs finite offsets and finite scales above 0")
        for part in (self.offset, self.scale):
            part.setflags(write=False)

    @classmethod
    def none(cls, columns: int) -> Scaling:
        """The map that changes nothing."""
        return cls(np.zeros(columns), np.ones(columns))

    @classmethod
    def of(cls, scaler: Any, columns: int) -> Scaling:
        """From None, a `Scaling`, a pair (offset, scale), or a fitted scikit-learn scaler that is affine.

        A fitted scaler is read off by its `inverse_transform`: of zeros, of ones, and, to prove that it is affine
        and works column by column, of other points.
        """
        if scaler is None:
            return cls.none(columns)
        if isinstance(scaler, Scaling):
            found = scaler
        elif isinstance(scaler, tuple) and len(scaler) == 2:
            found = cls(*scaler)
        elif hasattr(scaler, "inverse_transform"):
            found = _read_off(scaler, columns)
        else:
            raise ConfigError(
                f"scaler must be None, (offset, scale) or a fitted scaler with inverse_transform, got {scaler!r}"
            )
        if found.offset.shape != (columns,):
            raise ConfigError(f"scaler must have {columns} columns, got {len(found.offset)}")
        return found

    def raw(self, seen: ArrayLike) -> NDArray[np.float64]:
        """Values in raw units of values as the network sees them, (..., columns)."""
        return self.offset + self.scale * np.asarray(seen, dtype=np.float64)

    def seen(self, raw: ArrayLike) -> NDArray[np.float64]:
        """Values as the network sees them of values in raw units, (..., columns)."""
        return (np.asarray(raw, dtype=np.float64) - self.offset) / self.scale


def _read_off(scaler: Any, columns: int) -> Scaling:
    """The affine map that a fitted scaler's `inverse_transform` is; refuses one that is none."""
    probe = np.stack([np.zeros(columns), np.ones(columns), np.linspace(-2, 3, columns)])
    try:
        zero, one, other = np.asarray(scaler.inverse_transform(probe), dtype=np.float64)
    except ValueError as error:
        raise ConfigError(f"scaler must have {columns} columns: {error}") from error
    found = Scaling(zero, one - zero)
    if not np.allclose(found.raw(probe[2]), other, rtol=1e-6, atol=1e-6 * float(np.abs(other).max() + 1)):
        raise ConfigError(f"scaler must scale every column by itself and linearly; {scaler!r} does not")
    return found
