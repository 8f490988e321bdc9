"""Column names and classes in JSON: values with their NumPy type, read back to the last bit or refused."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...decoding import shown
from ...errors import ConfigError
from ...safe_json import MOST_BYTES

_PLAIN = (str, bool, int, float)


@dataclass(frozen=True)
class Labels:
    """Values as a file has them, and the type of the array that they were in."""

    type: str
    values: list[Any]

    @classmethod
    def of(cls, name: str, values: NDArray[Any]) -> Labels:
        """JSON writes floats so that they read back the same, to the last bit."""
        listed = values.tolist()
        for value in listed:
            if not isinstance(value, _PLAIN):
                raise ConfigError(
                    f"{name} must be text, numbers or truth values to be saved, got {value!r}; rename it first"
                )
        return cls(values.dtype.str if values.dtype.kind in "biufU" else "object", listed)

    def array(self, name: str, count: int) -> NDArray[Any]:
        """The `count` values as they were, if the type holds them without a change; else a ConfigError."""
        if len(self.values) != count:
            raise ConfigError(f"{name} must have {count} values, got {len(self.values)}")
        for value in self.values:
            if not isinstance(value, _PLAIN) or (isinstance(value, float) and not math.isfinite(value)):
                raise ConfigError(f"{name} must be text, finite numbers or truth values, got {shown(value)}")
        kind = _numpy_type(name, self.type)
        if kind.itemsize * count > MOST_BYTES:  # text of a given length takes it for every value
            raise ConfigError(
                f"{name} must take at most {MOST_BYTES} bytes, got {count} of {shown(self.type)}"
            )
        try:
            with np.errstate(all="ignore"):
                made: NDArray[Any] = np.array(self.values, dtype=kind)
        except (TypeError, ValueError, OverflowError) as error:
            raise ConfigError(f"{name} must be of type {self.type!r}: {error}") from error
        again = made.tolist()
        if again != self.values or [*map(type, again)] != [*map(type, self.values)]:
            raise ConfigError(f"{name} must be of type {self.type!r}, but that type changes them")
        return made


def _numpy_type(name: str, text: str) -> np.dtype[Any]:
    try:
        if text == "object" or re.fullmatch(r"[<>|=][biufU]\d{1,9}", text):
            return np.dtype(text)
    except (TypeError, ValueError):  # such as numbers of three bytes
        pass
    raise ConfigError(f"{name} must have a type of text, numbers or truth values, got {shown(text)}")
