"""Everything that decides how a run goes, as one tree of frozen dataclasses, and how it is written and read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from torch import nn

from .. import catalog
from ..decoding import decoded
from ..encoding import encoded
from ..errors import ConfigError, at_least, at_most, choose
from ..network.observation import Observation
from .earlier import upgraded
from .protocols import LearnerConfig, Task

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")


MOST_GAMES = 4096
"""At once, and processes: each takes memory and files of the system."""
MOST_EPISODES = 10**6
"""Of one evaluation: the result of each is kept."""


@dataclass(frozen=True)
class TrialProtocol:
    """The trial: epochs of training steps, each followed by greedy evaluation episodes."""

    epochs: int = field(default=10, metadata={"help": "epochs of a trial"})
    steps_per_epoch: int = field(default=500, metadata={"help": "training steps of an epoch, over all games"})
    episodes: int = field(default=25, metadata={"help": "greedy evaluation episodes after each epoch"})
    games: int = field(default=4, metadata={"help": "games played at once in evaluation"})
    episode_seeds: Literal["fixed", "anew"] = field(
        default="fixed",
        metadata={
            "help": "evaluation episodes: 'fixed' (the same in every run) or 'anew' (others for each seed and epoch)"
        },
    )
    processes: int | None = field(
        default=None,
        metadata={"help": "processes that training games run in, 0: none beside this one (default: by task)"},
    )

    def __post_init__(self) -> None:
        for name in ("epochs", "steps_per_epoch", "episodes", "games"):
            at_least(name, getattr(self, name), 1)
        at_most("games", self.games, MOST_GAMES)
        at_most("episodes", self.episodes, MOST_EPISODES)
        choose("episode_seeds", self.episode_seeds, ("fixed", "anew"))
        if self.processes is not None:
            at_most("processes", at_least("processes", self.processes, 0), MOST_GAMES)

    @property
    def steps(self) -> int:
        """Training steps in all."""
        return self.epochs * self.steps_per_epoch


class EncoderConfig(Protocol):
    """What stands between observations and heads; see `network.encoders`."""

    def build(self, observation: Observation) -> nn.Module:
        """A module from observations to features, of which it tells the number: `out_features`."""
        ...


class HeadConfig(Protocol):
    """What makes values of features; see `network.heads`."""

    def build(self, in_features: int, outputs: int) -> nn.Module:
        """A module from features to outputs."""
        ...

    def build_value(self, in_features: int) -> nn.Module:
        """A module from features to the state's value, one output."""
        ...


@dataclass(frozen=True)
class RunConfig:
    """One run: which task, which agent, and all that decides how it learns."""

    task: Task = field(metadata={"kinds": "task"})
    preset: str = field(metadata={"identity": True})
    learner: LearnerConfig = field(metadata={"kinds": "learner", "identity": True})
    encoder: EncoderConfig = field(
        metadata={
            "kinds": "encoder",
            "help": "paper, pictures (of any size), places (where things are in them) or attributes (vectors)",
        }
    )
    head: HeadConfig = field(metadata={"kinds": "head", "identity": True})
    protocol: TrialProtocol = field(default_factory=TrialProtocol)
    seed: int = field(default=0, metadata={"help": "the run's seed"})

    def __post_init__(self) -> None:
        for group in ("task", "learner", "encoder", "head"):
            catalog.name_of(group, getattr(self, group))
        at_least("seed", self.seed, 0)
        # The name of a preset becomes part of the name of a folder.
        if not isinstance(self.preset, str) or not _NAME.fullmatch(self.preset) or len(self.preset) > 100:
            raise ConfigError(
                f"preset must be a name of letters, digits, '.', '_', '+' and '-' that begins with none of the last "
                f"three, got {self.preset!r:.80}"
            )

    @property
    def agent(self) -> str:
        """The name of the head's kind: 'nfn' or 'dnn'."""
        return catalog.name_of("head", self.head)

    @property
    def name(self) -> str:
        """What a run's folder is called."""
        key = re.sub(r"[^A-Za-z0-9_.+-]+", "_", self.task.key).lstrip(".+-") or "task"
        return f"{key}-{self.agent}-{self.preset}-seed{self.seed}"


def as_json(config: RunConfig) -> dict[str, Any]:
    """The tree in a form that JSON can hold."""
    return encoded(config)


def from_json(saved: object) -> RunConfig:
    """The tree from what `as_json` gave, in this version or an earlier one; a ConfigError says what is wrong."""
    config: RunConfig = decoded(RunConfig, upgraded(saved) if isinstance(saved, Mapping) else saved, "")
    return config
