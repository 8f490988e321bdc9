"""How to learn from a recording."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NoReturn

from ...errors import ConfigError, at_least, choose, within
from ..device_memory import observation_bytes

if TYPE_CHECKING:
    from torch import nn

    from ...network.observation import Observation
    from ..experience import Setting

METHODS = ("cql", "iql", "cloning")


@dataclass(frozen=True)
class OfflineConfig:
    """Discrete conservative Q-learning, implicit Q-learning, or plain cloning of what was done."""

    data: str = field(default="", metadata={"help": "the recording, a Minari data set"})
    method: Literal["cql", "iql", "cloning"] = field(default="cql", metadata={"help": "cql, iql or cloning"})
    learning_rate: float = field(default=1e-3, metadata={"help": "Adam's step size"})
    structure_rate: float = field(
        default=1.0, metadata={"help": "step size of all but the rules' conclusions, relative to theirs"}
    )
    batch_size: int = field(default=256, metadata={"help": "transitions of an update"})
    discount: float = field(default=0.99, metadata={"help": "weight of the next step's value, 0 to 1"})
    reward_scale: float = field(default=1.0, metadata={"help": "factor on rewards inside the loss"})
    conservatism: float = field(
        default=1.0, metadata={"help": "cql: weight of what keeps values of actions low that were not taken"}
    )
    expectile: float = field(
        default=0.7, metadata={"help": "iql: which expectile of the actions' values a state has"}
    )
    sharpness: float = field(
        default=3.0, metadata={"help": "iql: how much more an action counts that did better"}
    )
    restraint: float = field(
        default=0.5,
        metadata={
            "help": "cloning: weight of the mean square of preferences; chance is not learned by heart"
        },
    )
    target_rate: float = field(default=0.005, metadata={"help": "how fast the target network follows"})
    clip_norm: float | None = field(
        default=10.0, metadata={"help": "largest norm of the gradient; none: no limit"}
    )

    def __post_init__(self) -> None:
        choose("method", self.method, METHODS)
        at_least("batch_size", self.batch_size, 1)
        for name in ("learning_rate", "reward_scale"):
            within(name, getattr(self, name), 0, open_low=True)
        for name in ("structure_rate", "target_rate"):
            within(name, getattr(self, name), 0, 1, open_low=True)
        within("discount", self.discount, 0, 1)
        within("expectile", self.expectile, 0.5, 1)
        for name in ("conservatism", "sharpness", "restraint"):
            within(name, getattr(self, name), 0)
        if self.clip_norm is not None:
            within("clip_norm", self.clip_norm, 0, open_low=True)

    def kept_bytes(self, observation: Observation) -> int:
        """What an update takes of a recording: what was seen before and after, twice as precise, and numbers beside."""
        return self.batch_size * (4 * observation_bytes(observation) + 64)

    def build(self, network: nn.Module, setting: Setting) -> NoReturn:
        """What learns from a recording does not play."""
        raise ConfigError(
            "this run learns from a recording: go on with `neuroplastic offline --resume RUN`, not with `train`"
        )
