"""Dueling double Q-learning with experience replay and a target network."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from ...errors import ConfigError, InputError, at_least, choose
from ..seeding import RandomStreams
from .augmentation import mirrored, shifted
from .exploration import Exploration
from .replay import Batch, ReplayMemory
from .target_values import TargetValues

_LOSSES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "mse": functional.mse_loss,
    "huber": functional.huber_loss,
}


@dataclass(frozen=True)
class QConfig:
    """How the learner learns. The defaults are the paper's, or where it is silent, the plainest choice."""

    learning_rate: float = field(default=1e-4, metadata={"help": "Adam's step size"})
    anneal_updates: int | None = field(
        default=None, metadata={"help": "updates over which the step size falls to a tenth; none: constant"}
    )
    batch_size: int = field(default=32, metadata={"help": "transitions per update"})
    memory_size: int = field(default=10_000, metadata={"help": "transitions kept for replay"})
    discount: float = field(default=0.99, metadata={"help": "weight of the next step's value, 0 to 1"})
    n_step: int = field(default=1, metadata={"help": "rewards summed before the value of the state reached"})
    loss: str = field(default="mse", metadata={"help": "squared error ('mse') or Huber's ('huber')"})
    clip_norm: float | None = field(
        default=None, metadata={"help": "largest norm of the gradient; none: no limit"}
    )
    reward_scale: float = field(default=1.0, metadata={"help": "factor on rewards inside the loss"})
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
    reuse_target: bool = field(
        default=True,
        metadata={"help": "keep the target's values of a frame until it moves (CPU; equal, faster)"},
    )
    updates_per_step: int = field(default=1, metadata={"help": "updates after each step of the environment"})
    learning_starts: int = field(
        default=0, metadata={"help": "transitions before the first update (at least a batch)"}
    )
    exploration_start: float = field(default=1.0, metadata={"help": "rate of random actions at first"})
    exploration_decay: float = field(default=0.9999, metadata={"help": "factor on that rate after each step"})
    exploration_floor: float = field(default=0.1, metadata={"help": "least rate of random actions"})
    adam_eps: float = field(default=1e-8, metadata={"help": "Adam's epsilon"})
    fused_adam: bool = field(
        default=True, metadata={"help": "Adam in one pass over memory; needs float parameters"}
    )

    def __post_init__(self) -> None:
        for name in ("batch_size", "memory_size", "n_step", "target_every", "updates_per_step"):
            at_least(name, getattr(self, name), 1)
        for name in ("learning_starts", "shift_pixels"):
            at_least(name, getattr(self, name), 0)
        if self.anneal_updates is not None:
            at_least("anneal_updates", self.anneal_updates, 1)
        choose("act_with", self.act_with, ("network", "target"))
        for name in ("learning_rate", "reward_scale", "adam_eps"):
            _within(name, getattr(self, name), 0, open_low=True)
        for name in ("discount", "exploration_start", "exploration_decay", "exploration_floor"):
            _within(name, getattr(self, name), 0, 1)
        _within("target_rate", self.target_rate, 0, 1, open_low=True)
        if self.clip_norm is not None:
            _within("clip_norm", self.clip_norm, 0, open_low=True)
        choose("loss", self.loss, _LOSSES)
        for name in ("batch_size", "learning_starts", "n_step"):
            if getattr(self, name) > self.memory_size:
                raise ConfigError(
                    f"{name} must be at most memory_size = {self.memory_size}, got {getattr(self, name)}"
                )


def _within(name: str, value: object, low: float, high: float = math.inf, *, open_low: bool = False) -> None:
    """Check that a field is a finite number from `low` to `high`, `low` itself excluded if `open_low`."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    if not number or not low <= value <= high or (open_low and value == low):  # type: ignore[operator]
        least = f"above {low:g}" if open_low else f"at least {low:g}"
        most = "finite" if high == math.inf else f"at most {high:g}"
        raise ConfigError(f"{name} must be a number {least} and {most}, got {value!r}")


def _preferences(network: nn.Module) -> Callable[[Tensor], Tensor]:
    """What orders the actions at the least cost: the network's `preferences`, or else itself."""
    cheapest: Callable[[Tensor], Tensor] = getattr(network, "preferences", network)
    return cheapest


class QLearning:
    """Learns action values from replayed transitions; knows nothing of how its network computes them.

    With the network's values Q, the target network's Q', a transition's n-step return R and discount d (0
    where the episode ended, time-outs included), the loss is taken between Q(s, a) and the double-Q target

        reward_scale * R + d * Q'(s', argmax_a Q(s', a)).

    Acting, argmax and target passes run in evaluation mode (no dropout, no noise, running statistics); only
    the loss's forward pass runs in training mode. The network is left in evaluation mode between steps. The
    target network takes over running statistics, other buffers and extra state whenever it moves.
    """

    def __init__(
        self,
        network: nn.Module,
        config: QConfig,
        *,
        actions: int,
        streams: RandomStreams,
        device: torch.device | str = "cpu",
        mirrored_actions: Sequence[int] | None = None,
    ) -> None:
        """`network` maps uint8 observations (B, *frame) to values (B, actions).

        It may offer a method `preferences`, of the same arguments, that orders the actions like the values do at
        less cost; then that is asked wherever only the best action counts.

        `mirrored_actions[a]` is what action a becomes in a mirror; `mirror` needs it.
        """
        self.config = config
        self.actions = at_least("actions", actions, 1)
        self.streams = streams
        self.device = torch.device(device)
        self.network = network.to(self.device).eval()
        self.target = copy.deepcopy(self.network).requires_grad_(False)
        self._preferences = _preferences(self.network)
        self._actor_preferences = _preferences(self.actor)
        self.optimizer = torch.optim.Adam(
            self.network.parameters(), lr=config.learning_rate, eps=config.adam_eps, fused=config.fused_adam
        )
        self.replay = ReplayMemory(config.memory_size, n_step=config.n_step, discount=config.discount)
        self.exploration = Exploration(
            config.exploration_start, config.exploration_decay, config.exploration_floor
        )
        # One slot more than transitions: the memory also holds the frame not yet acted upon.
        self._target_values = TargetValues(config.memory_size + 1, actions)
        # A target that moves with every update, and pictures that differ each time, leave nothing to keep; a GPU
        # would wait to learn what is missing.
        lasting = config.target_every > 1 and not config.shift_pixels and not config.mirror
        self._reuses_target = config.reuse_target and lasting and self.device.type == "cpu"
        self._mirrored_actions = self._checked_mirror(mirrored_actions) if config.mirror else None
        self.updates = 0

    def _checked_mirror(self, actions: Sequence[int] | None) -> Tensor:
        """The mirrored actions as a tensor; they must undo themselves."""
        if actions is None:
            raise ConfigError("mirror needs mirrored_actions: what each action becomes in a mirror")
        if sorted(actions) != list(range(self.actions)) or any(actions[actions[a]] != a for a in actions):
            raise ConfigError(
                f"mirrored_actions must pair up the actions 0 to {self.actions - 1}, got {list(actions)}"
            )
        return torch.tensor(actions, device=self.device)

    @property
    def actor(self) -> nn.Module:
        """The network that acts: `act_with` names it."""
        return self.network if self.config.act_with == "network" else self.target

    @property
    def ready(self) -> bool:
        """Whether the memory holds enough transitions to learn from."""
        return len(self.replay) >= max(self.config.batch_size, self.config.learning_starts)

    @torch.inference_mode()
    def act(self, observations: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Greedy actions (k,) for observations (k, *frame)."""
        if self.network.training:
            self.network.eval()
        values = self._actor_preferences(torch.from_numpy(observations).to(self.device))
        if values.shape != (len(observations), self.actions):
            raise InputError(
                f"the network must give {(len(observations), self.actions)} values, got {tuple(values.shape)}"
            )
        actions: NDArray[np.int64] = values.argmax(dim=1).cpu().numpy()
        return actions

    def explore(self, observation: NDArray[np.uint8]) -> int:
        """An action for one observation: random at the exploration rate, else greedy."""
        if self.exploration.is_random(self.streams.exploration):
            return int(self.streams.exploration.integers(self.actions))
        return int(self.act(observation[None])[0])

    def replace_observation(self, observation: NDArray[np.uint8]) -> None:
        """Replace the observation to be acted upon next, where an environment did not repeat an episode."""
        self.replay.replace_current(observation)
        self._target_values.forget()

    def step(self) -> Tensor | None:
        """Make one update; return its loss (on the device, detached), or None before learning starts."""
        if not self.ready:
            return None
        batch = self.replay.sample(self.config.batch_size, self.streams.replay)
        batch = Batch(*(tensor.to(self.device, non_blocking=True) for tensor in batch))
        if self.config.shift_pixels:
            batch = shifted(batch, self.config.shift_pixels, self.streams.replay)
        if self._mirrored_actions is not None:
            batch = mirrored(batch, self._mirrored_actions, self.streams.replay)
        targets = self.targets(batch)
        self.network.train()
        values = self.network(batch.states).gather(1, batch.actions[:, None]).squeeze(1)
        loss = _LOSSES[self.config.loss](values, targets)
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        if self.config.clip_norm is not None:
            nn.utils.clip_grad_norm_(self.network.parameters(), self.config.clip_norm)
        if self.config.anneal_updates is not None:
            progress = min(1.0, self.updates / self.config.anneal_updates)
            self.optimizer.param_groups[0]["lr"] = self.config.learning_rate * (1 - 0.9 * progress)
        self.optimizer.step()
        # Fused optimizers change parameters without saying so; what a network keeps for evaluation needs it.
        for parameter in self.optimizer.param_groups[0]["params"]:
            torch.autograd.graph.increment_version(parameter)
        self.network.eval()
        self.updates += 1
        if self.updates % self.config.target_every == 0:
            self.move_target()
        return loss.detach()

    def targets(self, batch: Batch) -> Tensor:
        """Double-Q targets (B,) of a batch on the learner's device; for a network in evaluation mode."""
        with torch.inference_mode():
            best = self._preferences(batch.next_states).argmax(dim=1, keepdim=True)
            if self._reuses_target:
                values = self._target_values(self.target, batch.next_states, batch.next_steps)
            else:
                values = self.target(batch.next_states)
            following: Tensor = values.gather(1, best).squeeze(1)
        # Outside of inference mode: the loss's backward pass has to keep the targets.
        return self.config.reward_scale * batch.returns + batch.discounts * following

    @torch.no_grad()
    def move_target(self) -> None:
        """Move the target's parameters `target_rate` of the way to the network's, and copy all else."""
        state = self.network.state_dict()
        if self.config.target_rate < 1:
            for mine, theirs in zip(self.target.parameters(), self.network.parameters(), strict=True):
                mine.lerp_(theirs, self.config.target_rate)
            state.update(self.target.named_parameters(remove_duplicate=False))
        self.target.load_state_dict(state)
        self._target_values.forget()

    def state_dict(self) -> dict[str, Any]:
        """All that decides how learning goes on: nested dictionaries of tensors and what JSON can hold."""
        optimizer = self.optimizer.state_dict()
        return {
            "network": self.network.state_dict(),
            "target": self.target.state_dict(),
            "optimizer": {
                "param_groups": optimizer["param_groups"],
                "state": {str(index): entry for index, entry in optimizer["state"].items()},
            },
            "replay": self.replay.state_dict(),
            "target_values": self._target_values.state_dict(),
            "exploration": self.exploration.state_dict(),
            "random": self.streams.state_dict(),
            "updates": self.updates,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on exactly where `state_dict` was taken."""
        self.network.load_state_dict(state["network"])
        self.target.load_state_dict(state["target"])
        saved = state["optimizer"]
        # The optimizer would share the given tensors and change them.
        moments = {int(index): copy.deepcopy(entry) for index, entry in saved["state"].items()}
        self.optimizer.load_state_dict({"param_groups": saved["param_groups"], "state": moments})
        self.replay.load_state_dict(state["replay"])
        self._target_values.load_state_dict(state["target_values"])
        self.exploration.load_state_dict(state["exploration"])
        self.streams.load_state_dict(state["random"])
        self.updates = state["updates"]
