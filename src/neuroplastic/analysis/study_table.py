"""A study as a table that does not change: trials, their scores, and the space they were drawn from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import gcd, isfinite
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from .errors import StudyError, TooFewError
from .gower import Row, Value
from .quiet import quiet_optuna
from .samples import Sample

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.study import Study

EPISODES = 25
"""Evaluation episodes behind a mean, where a trial's own returns are not stored."""
FEW = 10
"""Most values of a hyperparameter that is taken for a grid or a choice where the space is not stored."""


@dataclass(frozen=True)
class Epoch:
    """Mean and SD of the evaluation episodes after one epoch."""

    epoch: int
    mean: float
    sd: float


@dataclass(frozen=True)
class TrialRow:
    """One trial. `mean`, `sd` and `slope` are None unless it is finished; a parameter left out does not apply."""

    number: int
    state: str
    parameters: Mapping[str, Value]
    mean: float | None = None
    sd: float | None = None
    slope: float | None = None
    epochs: tuple[Epoch, ...] = ()
    returns: tuple[float, ...] = ()
    protocol: str = ""
    episodes: int | None = None
    """evaluation episodes behind mean and SD, where they are counted but not stored"""
    pruned: bool = False
    """whether it ended early, for it lagged: with figures of fewer epochs"""

    @property
    def is_finished(self) -> bool:
        """Complete, with three finite objectives."""
        values = (self.mean, self.sd, self.slope)
        return self.state == "COMPLETE" and all(value is not None and isfinite(value) for value in values)

    @property
    def score(self) -> Sample:
        """Mean and SD with the number of episodes: those stored, else counted, else 25."""
        if not self.is_finished:
            raise TooFewError(f"trial {self.number} is not finished ({self.state}): it has no score")
        assert self.mean is not None
        assert self.sd is not None
        return Sample(self.mean, self.sd, len(self.returns) or self.episodes or EPISODES)


@dataclass(frozen=True)
class StudyTable:
    """The trials of one study of an `agent` ('dnn' or 'nfn') on a `task` ('BP'), and the space searched."""

    name: str
    task: str
    agent: str
    protocol: str
    trials: tuple[TrialRow, ...]
    distributions: Mapping[str, BaseDistribution] = field(repr=False)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the hyperparameters searched."""
        return tuple(self.distributions)

    @property
    def space(self) -> str:
        """'flat' where every finished trial has every hyperparameter, else 'conditional'."""
        whole = all(set(trial.parameters) >= set(self.parameters) for trial in self.finished)
        return "flat" if whole else "conditional"

    @cached_property
    def finished(self) -> tuple[TrialRow, ...]:
        """The trials that count."""
        return tuple(trial for trial in self.trials if trial.is_finished)

    def rows(self) -> list[Row]:
        """Hyperparameters of the finished trials, for `gower_distances`; one that does not apply is None."""
        return [{name: trial.parameters.get(name) for name in self.parameters} for trial in self.finished]

    def as_optuna(self) -> Study:
        """The finished trials as an Optuna study in memory, whose objectives are mean, SD and slope."""
        import optuna

        with quiet_optuna(warnings=True):
            study = optuna.create_study(directions=["maximize", "minimize", "maximize"])
        for trial in self.finished:
            study.add_trial(
                optuna.create_trial(
                    values=[trial.mean, trial.sd, trial.slope],  # type: ignore[list-item]
                    params=dict(trial.parameters),
                    distributions={name: self.distributions[name] for name in trial.parameters},
                )
            )
        return study


def study_table(
    name: str,
    trials: tuple[TrialRow, ...],
    *,
    task: str,
    agent: str,
    protocol: str = "",
    distributions: Mapping[str, BaseDistribution] | None = None,
) -> StudyTable:
    """A checked table; where the space is not known it is taken from the trials' values.

    Whole numbers on an even grid of few points then are steps of that grid; real numbers with few values among
    many trials, other whole numbers, truth values and text are choices; other real numbers an interval.
    """
    if not task or not agent:
        raise StudyError(
            f"study {name!r} does not say its task and agent: store them as user attributes "
            "(or columns, or keys) named 'task' and 'agent'"
        )
    if not trials:
        raise TooFewError(f"study {name!r} has no trials; run some first")
    known = dict(distributions or _inferred(trials))
    return StudyTable(name, task, agent.lower(), protocol, trials, MappingProxyType(known))


def _inferred(trials: tuple[TrialRow, ...]) -> dict[str, BaseDistribution]:
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    found: dict[str, BaseDistribution] = {}
    for name in dict.fromkeys(name for trial in trials for name in trial.parameters):
        values: list[Any] = [trial.parameters[name] for trial in trials if name in trial.parameters]
        distinct = sorted(set(values), key=lambda value: (str(type(value)), value))
        few = len(distinct) <= FEW and 2 * len(distinct) <= len(values)
        if all(isinstance(value, float) for value in values) and not few:
            found[name] = FloatDistribution(min(values), max(values))
        elif all(type(value) is int for value in values) and len(distinct) > 1:
            step = gcd(*(value - distinct[0] for value in distinct[1:]))
            even = (distinct[-1] - distinct[0]) // step < FEW
            grid = IntDistribution(distinct[0], distinct[-1], step=step)
            found[name] = grid if even else CategoricalDistribution(tuple(distinct))
        else:
            found[name] = CategoricalDistribution(tuple(distinct))
    return found
