"""A loss that runs away is noticed and said: the run's scores may still look well for an epoch or two."""

from __future__ import annotations

import math
import statistics
import warnings
from collections.abc import Sequence

from .run_folder import EpochMetrics, RunFolder

# Above so many times the median of the epochs before, a loss does not only follow greater returns.
TIMES = 20.0
LEAST_EPOCHS = 2


class DivergenceWarning(UserWarning):
    """The loss of a run grows out of bounds, or is no number any more."""


def divergence(metrics: Sequence[EpochMetrics]) -> list[str]:
    """A line for every epoch whose mean loss is no number, or far above the median of the epochs before it.

    Epochs without any update have no loss and are left out.
    """
    told: list[str] = []
    before: list[float] = []
    for epoch in metrics:
        loss = epoch.loss
        if math.isnan(loss) and not before and not epoch.figures.get("updates"):
            continue
        if not math.isfinite(loss):
            told.append(f"epoch {epoch.epoch}: the loss is no number any more ({loss})")
            continue
        usual = statistics.median(before) if len(before) >= LEAST_EPOCHS else math.inf
        if loss > TIMES * usual and usual > 0:
            told.append(
                f"epoch {epoch.epoch}: the loss diverges: {loss:.3g}, {loss / usual:.0f} times the median of the "
                f"epochs before ({usual:.3g})"
            )
        before.append(loss)
    return told


def warn_of_divergence(folder: RunFolder, metrics: Sequence[EpochMetrics]) -> None:
    """Keep these lines in the run's folder, and warn if one is of the latest epoch."""
    lines = divergence(metrics)
    folder.write_notices(lines)
    if lines and lines[-1].startswith(f"epoch {metrics[-1].epoch}:"):
        warnings.warn(
            f"{folder.path.name}, {lines[-1]}; a smaller --learning-rate or --reward-scale may help",
            DivergenceWarning,
            stacklevel=2,
        )
