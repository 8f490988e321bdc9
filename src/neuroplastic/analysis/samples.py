"""A group of episodes known by its mean, standard deviation and size, and several groups pooled."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum, isfinite, sqrt

from .errors import TableError, TooFewError


@dataclass(frozen=True)
class Sample:
    """Mean, standard deviation (of n - 1) and size of a group of episodes; at least 2 of them."""

    mean: float
    sd: float
    n: int

    def __post_init__(self) -> None:
        if isinstance(self.n, bool) or not isinstance(self.n, int) or self.n < 2:
            raise TooFewError(f"a sample needs at least 2 episodes to have a spread, got n={self.n!r}")
        if not (isfinite(self.mean) and isfinite(self.sd) and self.sd >= 0):
            raise TableError(
                f"a sample needs a finite mean and a finite SD of at least 0, got {self.mean!r}, {self.sd!r}"
            )

    @classmethod
    def of(cls, returns: Iterable[float]) -> Sample:
        """The sample of raw episodes' returns. Fewer than 2 raise TooFewError, NaN a TableError."""
        values = [float(value) for value in returns]
        if len(values) < 2:
            raise TooFewError(f"a sample needs at least 2 episodes to have a spread, got {len(values)}")
        mean = fsum(values) / len(values)
        return cls(mean, sqrt(fsum((value - mean) ** 2 for value in values) / (len(values) - 1)), len(values))


def pooled(samples: Sequence[Sample]) -> Sample:
    """Samples as one: `mean = sum n_i mean_i / sum n_i`, `sd**2 = sum (n_i - 1) sd_i**2 / sum (n_i - 1)`.

    The pooled SD is the spread within the samples; differences between their means do not enter.
    Its size is the number of all episodes. No sample raises TooFewError.
    """
    if not samples:
        raise TooFewError("there is no sample to pool; give at least one")
    episodes = sum(sample.n for sample in samples)
    mean = fsum(sample.n * sample.mean for sample in samples) / episodes
    squares = fsum((sample.n - 1) * sample.sd**2 for sample in samples)
    return Sample(mean, sqrt(squares / (episodes - len(samples))), episodes)
