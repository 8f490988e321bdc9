"""Search spaces: the paper's two as printed, four of ours, none; the configuration that a point of one describes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import optuna
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)

from ..errors import ConfigError
from ..experiment.configuration import RunConfig
from ..experiment.options import options, with_values
from ..network.dueling import ACTIVATIONS

Value = int | float | bool | str


@dataclass(frozen=True)
class Choice:
    """One of some values without an order that the sampler may use."""

    values: tuple[Value, ...]

    def distribution(self) -> BaseDistribution:
        """As Optuna knows it."""
        return CategoricalDistribution(self.values)

    def __contains__(self, value: object) -> bool:
        return value in self.values


@dataclass(frozen=True)
class Steps:
    """A whole number from `low` to `high` in steps of `step`: a printed list of evenly spaced numbers."""

    low: int
    high: int
    step: int

    def distribution(self) -> BaseDistribution:
        """As Optuna knows it."""
        return IntDistribution(self.low, self.high, step=self.step)

    def __contains__(self, value: object) -> bool:
        return value in range(self.low, self.high + 1, self.step)


@dataclass(frozen=True)
class Interval:
    """A real number of a closed interval, drawn evenly: the paper prints no logarithmic scale. Ours may have one."""

    low: float
    high: float
    log: bool = False

    def distribution(self) -> BaseDistribution:
        """As Optuna knows it."""
        return FloatDistribution(self.low, self.high, log=self.log)

    def __contains__(self, value: object) -> bool:
        return isinstance(value, (int, float)) and self.low <= value <= self.high


Space = Mapping[str, Choice | Steps | Interval]

DNN_SPACE: Space = {
    "frame_skip": Steps(4, 12, 4),
    "learning_rate": Interval(1e-5, 1e-3),
    "batch_size": Steps(8, 64, 8),
    "memory_size": Steps(10_000, 50_000, 10_000),
    "discount": Interval(0.9, 0.99),
    "hidden": Steps(128, 512, 128),
    "activation": Choice(tuple(ACTIVATIONS)),
}
"""'Available Hyperparameters for the Deep Neural Network'."""

# Flat: temperature, constraint and noise_hold are drawn for STE too, where they have no effect.
NFN_SPACE: Space = {
    "rules": Steps(64, 256, 64),
    "stge": Choice((False, True)),
    "temperature": Interval(0.25, 1.25),
    "constraint": Choice((0, 10)),
    "noise_hold": Choice((1, 32, 64, 128, 256)),
    "epsilon": Interval(0.1, 0.5),
    "delay": Steps(1, 5, 2),
    "reduce": Choice(("sum", "mean")),
    "alpha": Choice((1.0, 1.5)),
    "certainty": Choice((False, True)),
    "layer_norm": Choice((False, True)),
    "learning_rate": Interval(1e-4, 1e-3),
}
"""'Available Hyperparameters for the Neuro-Fuzzy Network'."""

# What the learner does with its steps: found to matter more than most of what the paper searches (docs/long.md).
_LEARNING: Space = {
    "frame_skip": Steps(2, 8, 2),
    "batch_size": Steps(32, 128, 32),
    "discount": Interval(0.95, 0.99),
    "n_step": Choice((1, 3, 5, 10)),
    "exploration_decay": Interval(0.999, 0.9999),
}
OUR_DNN_SPACE: Space = {
    **_LEARNING,
    "learning_rate": Interval(1e-4, 3e-3, log=True),
    "hidden": Steps(128, 512, 128),
}
OUR_NFN_SPACE: Space = {
    **_LEARNING,
    "learning_rate": Interval(1e-3, 3e-2, log=True),
    "structure_rate": Interval(0.02, 0.5, log=True),
    "rules": Steps(32, 128, 32),
    "reduce": Choice(("scaled", "worst")),
    "balance": Choice((0.0, 0.01, 0.03)),
}

# The same about what `short` does in the seven scenarios: its own values are a point of it, and searches begin there.
_SHORT_LEARNING: Space = {
    "frame_skip": Steps(4, 12, 4),
    "batch_size": Steps(16, 64, 16),
    "discount": Interval(0.95, 0.99),
    "n_step": Choice((1, 3, 5, 10)),
    "exploration_decay": Interval(0.999, 0.9997),
    "exploration_hold": Choice((1, 2, 4)),
}
SHORT_DNN_SPACE: Space = {
    **_SHORT_LEARNING,
    "learning_rate": Interval(2e-4, 3e-3, log=True),
    "hidden": Steps(128, 512, 128),
}
SHORT_NFN_SPACE: Space = {
    **OUR_NFN_SPACE,
    **_SHORT_LEARNING,
    "learning_rate": Interval(2e-3, 2e-2, log=True),
    "structure_rate": Interval(0.05, 0.5, log=True),
}

ANEW = "anew"
"""The space in which nothing is searched: one trial's settings are learned anew with other seeds."""
SPACES: Mapping[str, Mapping[str, Space]] = {
    "paper": {"dnn": DNN_SPACE, "nfn": NFN_SPACE},
    "ours": {"dnn": OUR_DNN_SPACE, "nfn": OUR_NFN_SPACE},
    "short": {"dnn": SHORT_DNN_SPACE, "nfn": SHORT_NFN_SPACE},
    ANEW: {"dnn": {}, "nfn": {}},
}
"""by name and agent"""


def in_space(agent: str, space: str) -> str:
    """What an agent of a study is called: in another space than the paper's with its name, as in nfn-ours."""
    return agent if space == "paper" else f"{agent}-{space}"


INHERITED = ("frame_skip", "batch_size", "memory_size", "discount")
"""What a neuro-fuzzy agent takes over from the best trial of the plain one, in the paper's space."""


def distributions(space: Space) -> dict[str, BaseDistribution]:
    """A space as Optuna knows it."""
    return {name: axis.distribution() for name, axis in space.items()}


def draw(study: optuna.Study, space: Space) -> dict[str, Any]:
    """A point of a space by the study's sampler, which looks at the trials so far.

    Drawn before its trial exists, so that the trial is stored whole, in one transaction.
    """
    unborn = optuna.trial.create_trial(state=optuna.trial.TrialState.RUNNING)
    study.sampler.before_trial(study, unborn)
    return {
        name: study.sampler.sample_independent(study, unborn, name, distribution)
        for name, distribution in distributions(space).items()
    }


def own_point(base: RunConfig, space: Space) -> dict[str, Any] | None:
    """The point of a space that a configuration lies at; None where it lies outside."""
    values = {option.name: option.value for option in options(base)}
    if any(name not in values or values[name] not in axis for name, axis in space.items()):
        return None
    return {name: values[name] for name in space}


def field_of(name: str) -> str:
    """The field of a configuration that is searched under a name."""
    return "estimator" if name == "stge" else name


def at_point(base: RunConfig, params: Mapping[str, Any]) -> RunConfig:
    """The configuration `base` with the values of a point; whatever the point does not name stays."""
    values = dict(params)
    if "stge" in values:
        values[field_of("stge")] = "stge" if values.pop("stge") else "ste"
    if "certainty" in values:
        values["certainty"] = "log" if values["certainty"] else None
    changed: RunConfig = with_values(base, values)
    return changed


def inherited_from(params: Mapping[str, Any], space: Space) -> dict[str, Any]:
    """The part of a plain agent's point that the neuro-fuzzy agent takes over; `space` is the plain agent's."""
    wanted = [name for name in INHERITED if name in space]
    missing = [name for name in wanted if name not in params]
    if missing:
        raise ConfigError(
            f"a trial to inherit from must have {', '.join(wanted)}; this one lacks {', '.join(missing)}: "
            "name a study of --agent dnn"
        )
    return {name: params[name] for name in wanted}
