"""How the replay learner learns."""

from __future__ import annotations

from dataclasses import dataclass, field

from torch import nn

from ...errors import ConfigError, at_least, choose, within
from ...network.observation import Observation
from ..device_memory import observation_bytes
from ..experience import Setting
from ..optimizing import LOSSES
from ..teaching import HELP, MOST_WEIGHT, check_teaching
from .learner import QLearning


@dataclass(frozen=True)
class QConfig:
    """How the learner learns. The defaults are the paper's, or where it is silent, the plainest choice."""

    learning_rate: float = field(default=1e-4, metadata={"help": "Adam's step size"})
    structure_rate: float = field(
        default=1.0,
        metadata={"help": "step size of all but the rules' conclusions, relative to theirs"},
    )
    anneal_updates: int | None = field(
        default=None, metadata={"help": "updates over which the step size falls to a tenth; none: constant"}
    )
    batch_size: int = field(default=32, metadata={"help": "transitions per update"})
    late_batch: int | None = field(
        default=None,
        metadata={"help": "transitions per update in the second half of a run; none: batch_size"},
    )
    memory_size: int = field(default=10_000, metadata={"help": "transitions kept for replay"})
    discount: float = field(default=0.99, metadata={"help": "weight of the next step's value, 0 to 1"})
    n_step: int = field(default=1, metadata={"help": "rewards summed before the value of the state reached"})
    late_n_step: int | None = field(
        default=None, metadata={"help": "rewards summed in the second half of a run; none: n_step"}
    )
    late_discount: float | None = field(
        default=None, metadata={"help": "weight of the next step's value in the second half; none: discount"}
    )
    reset_heads: bool = field(
        default=False,
        metadata={"help": "at half of a run all but the encoder begins anew, from where it began"},
    )
    loss: str = field(default="mse", metadata={"help": "squared error ('mse') or Huber's ('huber')"})
    clip_norm: float | None = field(
        default=None, metadata={"help": "largest norm of the gradient; none: no limit"}
    )
    reward_scale: float = field(default=1.0, metadata={"help": "factor on rewards inside the loss"})
    normalise_rewards: bool = field(
        default=False,
        metadata={"help": "rewards are divided by the standard deviation of discounted returns so far, too"},
    )
    target_every: int = field(default=500, metadata={"help": "updates between moves of the target network"})
    target_rate: float = field(
        default=1.0, metadata={"help": "how far the target moves each time: 1 copies, less is a soft update"}
    )
    act_with: str = field(
        default="network",
        metadata={"help": "who acts: the 'network', or the 'target' (an average, with soft updates)"},
    )
    shift_pixels: int = field(
        default=0, metadata={"help": "replayed pictures are moved by up to this many pixels at random"}
    )
    mirror: bool = field(
        default=False,
        metadata={"help": "half of the replayed transitions are seen in a mirror, left for right"},
    )
    mirror_agreement: float = field(
        default=0.0,
        metadata={"help": "weight of how far values in the mirror are off; above 0 all is seen both ways"},
    )
    reuse_target: bool = field(
        default=True,
        metadata={"help": "keep the target's values of a frame until it moves (CPU; equal, faster)"},
    )
    capture: bool = field(
        default=True,
        metadata={"help": "replay updates and decisions as CUDA graphs (GPU; equal, faster)"},
    )
    bootstrap_truncated: bool = field(
        default=False,
        metadata={"help": "the value of the last observation of an episode cut short counts on"},
    )
    always_training: bool = field(
        default=False,
        metadata={"help": "exploring and target passes in training mode too, with dropout and noise"},
    )
    updates_per_step: int = field(default=1, metadata={"help": "updates after each step of the environment"})
    learning_starts: int = field(
        default=0, metadata={"help": "transitions before the first update (at least a batch)"}
    )
    exploration_start: float = field(default=1.0, metadata={"help": "rate of random actions at first"})
    exploration_decay: float = field(default=0.9999, metadata={"help": "factor on that rate after each step"})
    exploration_floor: float = field(default=0.1, metadata={"help": "least rate of random actions"})
    exploration_hold: int = field(
        default=1,
        metadata={"help": "decisions that a draw holds for: a random action, or to do the best"},
    )
    exploration_advised: float = field(default=0.0, metadata={"help": HELP["exploration_advised"]})
    taught: float = field(default=0.0, metadata={"help": HELP["taught"]})
    taught_share: float = field(default=0.5, metadata={"help": HELP["taught_share"]})
    taught_margin: float = field(default=0.5, metadata={"help": HELP["taught_margin"]})
    adam_eps: float = field(default=1e-8, metadata={"help": "Adam's epsilon"})
    fused_adam: bool = field(
        default=True, metadata={"help": "Adam in one pass over memory; needs float parameters"}
    )

    def __post_init__(self) -> None:
        for name in (
            "batch_size",
            "memory_size",
            "n_step",
            "target_every",
            "updates_per_step",
            "exploration_hold",
        ):
            at_least(name, getattr(self, name), 1)
        for name in ("learning_starts", "shift_pixels"):
            at_least(name, getattr(self, name), 0)
        if self.anneal_updates is not None:
            at_least("anneal_updates", self.anneal_updates, 1)
        for name in ("late_batch", "late_n_step"):
            if getattr(self, name) is not None:
                at_least(name, getattr(self, name), 1)
        if self.late_discount is not None:
            within("late_discount", self.late_discount, 0, 1)
        choose("act_with", self.act_with, ("network", "target"))
        for name in ("learning_rate", "reward_scale", "adam_eps"):
            within(name, getattr(self, name), 0, open_low=True)
        for name in ("discount", "exploration_start", "exploration_decay", "exploration_floor"):
            within(name, getattr(self, name), 0, 1)
        for name in ("target_rate", "structure_rate"):
            within(name, getattr(self, name), 0, 1, open_low=True)
        within("mirror_agreement", self.mirror_agreement, 0, MOST_WEIGHT)
        if self.mirror_agreement and not self.mirror:
            raise ConfigError(
                f"mirror_agreement={self.mirror_agreement:g} is about what is seen in a mirror; "
                "set mirror to true, or mirror_agreement to 0"
            )
        if self.clip_norm is not None:
            within("clip_norm", self.clip_norm, 0, open_low=True)
        check_teaching(self)
        choose("loss", self.loss, LOSSES)
        for name in ("batch_size", "late_batch", "learning_starts", "n_step", "late_n_step"):
            if (getattr(self, name) or 0) > self.memory_size:
                raise ConfigError(
                    f"{name} must be at most memory_size = {self.memory_size}, got {getattr(self, name)}"
                )
        first = max(self.batch_size, self.learning_starts)
        returns = max(self.n_step, self.late_n_step or 0)
        if first + returns - 1 > self.memory_size:
            raise ConfigError(
                f"memory_size must be at least {first + returns - 1}: the {first} transitions that updates wait for, "
                f"and the {returns - 1} newest, whose returns of {returns} steps are not known yet; "
                f"got {self.memory_size}"
            )

    def kept_bytes(self, observation: Observation) -> int:
        """What the replay memory takes of the device that it lives on."""
        return (self.memory_size + 1) * observation_bytes(observation)

    def build(self, network: nn.Module, setting: Setting) -> QLearning:
        """The learner. `network` maps observations (k, *shape) to action values (k, actions)."""
        return QLearning(
            network,
            self,
            actions=setting.actions,
            streams=setting.streams,
            device=setting.device,
            mirrored_actions=setting.mirrored_actions,
            total_steps=setting.total_steps,
        )
