"""Everything that decides how a run goes, as one tree of frozen dataclasses, and its leaves by name."""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..doom.engine import PICTURES, Picture
from ..doom.scenarios import scenario
from ..errors import ConfigError, at_least, choose, suggestion
from ..fuzzy.firing import Firing
from ..fuzzy.selection import Selection
from ..learn.dqn.learner import QConfig
from ..network.consequents import BY_NAME
from ..network.dueling import ACTIVATIONS
from ..network.neurogenesis import Neurogenesis


@dataclass(frozen=True)
class Protocol:
    """The trial: epochs of training steps, each followed by greedy evaluation episodes."""

    epochs: int = field(default=10, metadata={"help": "epochs of a trial"})
    steps_per_epoch: int = field(default=500, metadata={"help": "training steps of an epoch"})
    episodes: int = field(default=25, metadata={"help": "greedy evaluation episodes after each epoch"})
    games: int = field(default=4, metadata={"help": "games played at once in evaluation"})
    picture: Picture = field(
        default="paper", metadata={"help": "rendering: 'paper' (640x480) or 'fast' (160x120)"}
    )
    frame_skip: int = field(default=4, metadata={"help": "tics that an action is held"})

    def __post_init__(self) -> None:
        for name in ("epochs", "steps_per_epoch", "episodes", "games", "frame_skip"):
            at_least(name, getattr(self, name), 1)
        choose("picture", self.picture, PICTURES)


@dataclass(frozen=True)
class EncoderConfig:
    """The convolutional network in front of the heads."""

    dropout: float = field(default=0.2, metadata={"help": "dropout after every convolution"})
    feature_norm: bool = field(default=False, metadata={"help": "layer-normalise the 1600 features"})

    def __post_init__(self) -> None:
        if not 0 <= self.dropout < 1:
            raise ConfigError(f"dropout must lie in [0, 1), got {self.dropout!r}")


@dataclass(frozen=True)
class DnnConfig:
    """Plain heads: two linear layers with an activation, and a read-out."""

    hidden: int = field(default=256, metadata={"help": "neurons of each hidden layer"})
    activation: str = field(default="ReLU", metadata={"help": "one of the paper's 22 activation functions"})
    readout: bool = field(default=True, metadata={"help": "a linear read-out after the second activation"})

    def __post_init__(self) -> None:
        at_least("hidden", self.hidden, 1)
        choose("activation", self.activation, ACTIVATIONS)


@dataclass(frozen=True)
class NfnConfig:
    """Neuro-fuzzy heads."""

    rules: int = field(default=128, metadata={"help": "rules of each head (and of each level)"})
    terms: int = field(default=3, metadata={"help": "fuzzy sets of an attribute at the start"})
    max_terms: int = field(default=6, metadata={"help": "room for fuzzy sets of an attribute"})
    consequent: str = field(default="affine", metadata={"help": "affine, constant, low_rank or mamdani"})
    consequent_init: str = field(
        default="normal", metadata={"help": "consequents start 'normal' or at 'zeros'"}
    )
    rank: int = field(default=8, metadata={"help": "rank of low_rank consequents"})
    levels: tuple[int, ...] = field(
        default=(), metadata={"help": "hidden widths of a hierarchy, such as 64 or 64,32"}
    )
    input_low: float = field(default=0.0, metadata={"help": "where the first sets begin"})
    input_high: float = field(default=2.0, metadata={"help": "where the first sets end"})
    grow: bool = field(default=True, metadata={"help": "whether fuzzy sets are born"})
    selection: Selection = field(default_factory=Selection)
    firing: Firing = field(default_factory=Firing)
    neurogenesis: Neurogenesis = field(default_factory=Neurogenesis)

    def __post_init__(self) -> None:
        for name in ("rules", "terms", "max_terms", "rank"):
            at_least(name, getattr(self, name), 1)
        choose("consequent", self.consequent, BY_NAME)
        choose("consequent_init", self.consequent_init, ("normal", "zeros"))
        if self.terms > self.max_terms:
            raise ConfigError(f"terms must be at most max_terms = {self.max_terms}, got {self.terms}")
        if not -math.inf < self.input_low <= self.input_high < math.inf:
            raise ConfigError(
                f"input_low must be at most input_high, both finite, got {self.input_low} and {self.input_high}"
            )
        for number, width in enumerate(self.levels):
            at_least(f"levels[{number}]", width, 1)


@dataclass(frozen=True)
class RunConfig:
    """One run: which game, which agent, and all that decides how it learns."""

    scenario: str
    agent: str
    preset: str
    seed: int = field(default=0, metadata={"help": "the run's seed"})
    protocol: Protocol = field(default_factory=Protocol)
    learner: QConfig = field(default_factory=QConfig)
    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    head: DnnConfig | NfnConfig = field(default_factory=DnnConfig)

    def __post_init__(self) -> None:
        scenario(self.scenario)
        choose("agent", self.agent, ("nfn", "dnn"))
        at_least("seed", self.seed, 0)
        if isinstance(self.head, NfnConfig) != (self.agent == "nfn"):
            raise ConfigError(f"agent {self.agent!r} cannot have a {type(self.head).__name__} head")


_IDENTITY = ("scenario", "agent", "preset")


def leaves(config: Any) -> Iterator[tuple[str, dataclasses.Field[Any], Any]]:
    """Name, field and value of every leaf that a user may set. Names are unique over the tree."""
    for entry in dataclasses.fields(config):
        value = getattr(config, entry.name)
        if dataclasses.is_dataclass(value):
            yield from leaves(value)
        elif not (isinstance(config, RunConfig) and entry.name in _IDENTITY):
            yield entry.name, entry, value


def with_values(config: Any, values: Mapping[str, Any]) -> Any:
    """The same tree with the named leaves changed; an unknown name is an error that suggests the nearest."""
    known = {name for name, _, _ in leaves(config)}
    for name in values:
        if name not in known:
            raise ConfigError(f"unknown option {name!r}{suggestion(name, known)}")
    return _replaced(config, values)


def _replaced(config: Any, values: Mapping[str, Any]) -> Any:
    changes = {}
    for entry in dataclasses.fields(config):
        value = getattr(config, entry.name)
        if dataclasses.is_dataclass(value):
            changes[entry.name] = _replaced(value, values)
        elif entry.name in values and not (isinstance(config, RunConfig) and entry.name in _IDENTITY):
            changes[entry.name] = values[entry.name]
    return dataclasses.replace(config, **changes)


def parse(name: str, kind: Any, text: str) -> Any:
    """A leaf's value from text, by its declared type; a bad value names its field."""
    options = typing.get_args(kind) if isinstance(kind, types.UnionType) else (kind,)
    lowered = text.strip().lower()
    if type(None) in options and lowered in ("none", "null"):
        return None
    if bool in options:
        if lowered in ("true", "yes", "on", "1", "false", "no", "off", "0"):
            return lowered in ("true", "yes", "on", "1")
        raise ConfigError(f"{name} must be true or false, got {text!r}")
    for number in (int, float):
        if number in options:
            try:
                return number(text)
            except ValueError:
                continue
    if str in options or any(typing.get_origin(option) is typing.Literal for option in options):
        return text
    if any(typing.get_origin(option) is tuple for option in options):
        try:
            return tuple(int(part) for part in text.split(",") if part.strip() not in ("", "none"))
        except ValueError:
            raise ConfigError(f"{name} must be whole numbers with commas between, got {text!r}") from None
    what = "a number" if float in options else "a whole number"
    raise ConfigError(f"{name} must be {what}, got {text!r}")


def leaf_types(config: Any) -> dict[str, Any]:
    """The declared type of every leaf, by its name."""
    kinds: dict[str, Any] = {}
    hints = typing.get_type_hints(type(config))
    for entry in dataclasses.fields(config):
        value = getattr(config, entry.name)
        kinds.update(
            leaf_types(value) if dataclasses.is_dataclass(value) else {entry.name: hints[entry.name]}
        )
    return kinds


def as_json(config: RunConfig) -> dict[str, Any]:
    """The tree in a form that JSON can hold."""
    return dataclasses.asdict(config)


def from_json(saved: Mapping[str, Any]) -> RunConfig:
    """The tree from what `as_json` gave."""
    head: Mapping[str, Any] = saved["head"]
    if saved["agent"] == "nfn":
        parts = {
            "selection": Selection(**head["selection"]),
            "firing": Firing(**head["firing"]),
            "neurogenesis": Neurogenesis(**head["neurogenesis"]),
            "levels": tuple(head["levels"]),
        }
        built: DnnConfig | NfnConfig = NfnConfig(**{**head, **parts})
    else:
        built = DnnConfig(**head)
    return RunConfig(
        scenario=saved["scenario"],
        agent=saved["agent"],
        preset=saved["preset"],
        seed=saved["seed"],
        protocol=Protocol(**saved["protocol"]),
        learner=QConfig(**saved["learner"]),
        encoder=EncoderConfig(**saved["encoder"]),
        head=built,
    )
