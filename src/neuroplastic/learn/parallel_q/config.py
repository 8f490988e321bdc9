"""How the learner of many games learns."""

from __future__ import annotations

from dataclasses import dataclass, field

from torch import nn

from ...errors import ConfigError, at_least, at_most, choose, in_short, within
from ...network.observation import Observation
from ..device_memory import observation_bytes
from ..experience import Setting
from ..optimizing import LOSSES
from ..teaching import HELP, MOST_WEIGHT, check_teaching
from .learner import ParallelQLearning

MOST_GAMES = 4096
"""At once: each takes memory and files of the system."""


@dataclass(frozen=True)
class ParallelQConfig:
    """How the learner learns. A network without target network wants layer norm; schedules span the run."""

    training_games: int = field(default=32, metadata={"help": "games that are played at once in training"})
    rollout: int = field(
        default=32, metadata={"help": "decisions in each game between two times of learning"}
    )
    passes: int = field(
        default=2, metadata={"help": "times that all decisions of a rollout are learned from"}
    )
    batch_size: int = field(default=256, metadata={"help": "decisions per update, about"})
    q_lambda: float = field(
        default=0.65, metadata={"help": "weight of longer returns, 0 (one step) to 1 (whole rollout)"}
    )
    discount: float = field(default=0.99, metadata={"help": "weight of the next step's value, 0 to 1"})
    bootstrap_truncated: bool = field(
        default=True,
        metadata={"help": "the value of the last observation of an episode cut short counts on"},
    )
    loss: str = field(default="mse", metadata={"help": "squared error ('mse') or Huber's ('huber')"})
    reward_scale: float = field(default=1.0, metadata={"help": "factor on rewards inside the loss"})
    learning_rate: float = field(default=5e-4, metadata={"help": "RAdam's step size at first"})
    structure_rate: float = field(
        default=1.0,
        metadata={"help": "step size of all but the rules' conclusions, relative to theirs"},
    )
    anneal: bool = field(default=True, metadata={"help": "the step size falls in a line to 0 over the run"})
    clip_norm: float | None = field(
        default=10.0, metadata={"help": "largest norm of the gradient; none: no limit"}
    )
    exploration_start: float = field(default=1.0, metadata={"help": "rate of random actions at first"})
    exploration_floor: float = field(default=0.01, metadata={"help": "rate of random actions in the end"})
    exploration_share: float = field(
        default=0.25, metadata={"help": "share of the run over which that rate falls in a line"}
    )
    exploration_spread: float = field(
        default=1.0,
        metadata={"help": "the last game's rate is that rate to the power 1 + this; 0: all alike"},
    )
    exploration_hold: int = field(
        default=1, metadata={"help": "decisions for which a random action is held; 1: each is drawn anew"}
    )
    exploration_weights: tuple[float, ...] = field(
        default=(),
        metadata={"help": "how often each action is drawn at random, such as 1,1,0.1; none: alike"},
    )
    exploration_advised: float = field(default=0.0, metadata={"help": HELP["exploration_advised"]})
    taught: float = field(default=0.0, metadata={"help": HELP["taught"]})
    taught_share: float = field(default=0.5, metadata={"help": HELP["taught_share"]})
    taught_margin: float = field(default=0.5, metadata={"help": HELP["taught_margin"]})
    mirror: bool = field(
        default=False, metadata={"help": "half of the decisions learned from are seen in a mirror"}
    )
    overlap: bool = field(
        default=False,
        metadata={"help": "play on while learning, by the network of one rollout before"},
    )
    capture: bool = field(
        default=True,
        metadata={"help": "replay updates and decisions as CUDA graphs (GPU; equal, faster)"},
    )

    def __post_init__(self) -> None:
        for name in ("training_games", "rollout", "passes", "batch_size", "exploration_hold"):
            at_least(name, getattr(self, name), 1)
        at_most("training_games", self.training_games, MOST_GAMES)
        for name in ("learning_rate", "reward_scale"):
            within(name, getattr(self, name), 0, open_low=True)
        for name in ("q_lambda", "discount", "exploration_start", "exploration_floor", "exploration_share"):
            within(name, getattr(self, name), 0, 1)
        within("exploration_spread", self.exploration_spread, 0)
        check_teaching(self)
        within("structure_rate", self.structure_rate, 0, 1, open_low=True)
        if self.clip_norm is not None:
            within("clip_norm", self.clip_norm, 0, open_low=True)
        choose("loss", self.loss, LOSSES)
        self._check_weights()
        if self.batch_size > self.decisions:
            raise ConfigError(
                f"batch_size must be at most training_games x rollout = {self.decisions}, got {self.batch_size}"
            )

    def _check_weights(self) -> None:
        weights = self.exploration_weights
        if not isinstance(weights, tuple):
            raise ConfigError(
                f"exploration_weights must be one number for each action, got {in_short(repr(weights), 80)}"
            )
        for number, weight in enumerate(weights):
            within(f"exploration_weights[{number}]", weight, 0, MOST_WEIGHT)
        if weights and not any(weights):
            raise ConfigError("exploration_weights must have one above 0, got none")

    @property
    def decisions(self) -> int:
        """Decisions of a rollout, over all games."""
        return self.training_games * self.rollout

    def kept_bytes(self, observation: Observation) -> int:
        """What a rollout takes of the device that it is learned on, and the one that is played meanwhile."""
        return self.decisions * observation_bytes(observation) * (2 if self.overlap else 1)

    def build(self, network: nn.Module, setting: Setting) -> ParallelQLearning:
        """The learner. `network` maps observations (k, *shape) to action values (k, actions)."""
        return ParallelQLearning(network, self, setting)
