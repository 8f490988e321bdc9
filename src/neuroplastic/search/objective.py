"""What a worker asks of the function that makes a trial, and what it gets."""

from __future__ import annotations

import importlib
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import ConfigError, NeuroplasticError
from ..experiment.configuration import RunConfig
from ..experiment.figures import slope_of


class TrialStopped(Exception):  # noqa: N818
    """A trial was asked to stop before its end; what it needs to go on has been saved."""


class TrialFailed(NeuroplasticError):  # noqa: N818
    """A trial has no figures."""


@dataclass(frozen=True)
class Assignment:
    """One trial to make."""

    config: RunConfig
    params: Mapping[str, Any]
    """What was drawn, and what the study inherited."""
    slot: int
    attempt: int
    folder: Path
    """Where the trial keeps what it needs to go on, if it was begun before."""
    device: str
    stop: threading.Event
    """Set when the trial should end early, by `TrialStopped`."""
    report: Callable[[Sequence[Mapping[str, float]]], bool]
    """To be called after each epoch with all epochs so far: `{"epoch", "mean", "sd"}` each. Where it gives False, the
    trial lags, and ends with these epochs."""
    new_episodes: int = 0
    """So many episodes that no choice was made on are to be played by the best epoch's network in the end."""


@dataclass(frozen=True)
class Outcome:
    """A finished trial: every epoch's mean and SD, and the episode returns of the best one."""

    epochs: Sequence[Mapping[str, float]]
    returns: Sequence[float]
    clean_up: Callable[[], None] = lambda: None
    """Called once the trial is safely stored: drops what only an unfinished trial needs."""
    resumed_at: int = 0
    """The training step of the checkpoint that it went on from; 0 if it began anew."""
    pruned: bool = False
    """Whether it ended early, for it lagged."""
    new_returns: Sequence[float] = ()
    """Of the new episodes, if any were asked for."""

    @property
    def best(self) -> Mapping[str, float]:
        """The epoch of the greatest mean; of equals the last, whose network is kept."""
        return max(self.epochs, key=lambda epoch: (epoch["mean"], epoch["epoch"]))

    @property
    def values(self) -> tuple[float, float, float]:
        """Mean and SD of the best epoch, and the slope of all epochs' means (least squares; 0 for one epoch)."""
        slope = slope_of(means_of(self.epochs))
        values = (self.best["mean"], self.best["sd"], slope)
        if not all(math.isfinite(value) for value in values):
            raise TrialFailed(f"mean, SD and slope must be finite, got {values}")
        return values


Objective = Callable[[Assignment], Outcome]


def means_of(epochs: Sequence[Mapping[str, float]]) -> list[float]:
    """The epochs' means."""
    return [epoch["mean"] for epoch in epochs]


# Addresses that studies of earlier versions carry.
EARLIER = {
    "neuroplastic.study.doom_objective:doom_trial": "neuroplastic.search.trial_objective:run_trial",
    "neuroplastic.study.cheap:bowl": "neuroplastic.search.cheap:bowl",
}


def current_address(address: str) -> str:
    """Where the function lies in this version that an address, perhaps of an earlier one, means."""
    return EARLIER.get(address, address)


def find_objective(address: str) -> Objective:
    """The function that `module:function` names."""
    module, _, name = current_address(address).partition(":")
    try:
        found: Objective = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(f"no trial can be made by {address!r}: {error}") from error
    return found
