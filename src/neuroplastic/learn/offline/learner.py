"""Updates from transitions that somebody else made."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from ...network.dueling import DuelingNetwork, dnn_head
from ...network.parameter_groups import parameter_groups
from ..experience import Observations
from ..greedy import greedy_actions, preferences_of
from ..optimizing import descend, load_optimizer_state, optimizer_state
from ..seeding import RandomStreams
from .config import OfflineConfig
from .recording import Recording, Transitions

# Neurons of iql's own networks, which judge and do not act; and the most that an action may count.
JUDGES, MOST_WEIGHT = 256, 100.0


class OfflineLearning:
    """Learns an agent's network from a recording; the agent acts by the greatest of its preferences.

    cql: `Q(s, a)` towards `r + discount * Q'(s', argmax_a Q(s', a))` (double Q-learning with a slow target Q'), plus
    `conservatism * (logsumexp_a Q(s, a) - Q(s, a_taken))`, both in means over the batch.

    iql: plain networks judge: V(s) the expectile of Q'(s, a) over what was done, Q(s, a) towards
    `r + discount * V(s')`; the agent clones what was done, weighted by `exp(sharpness * (Q'(s, a) - V(s)))`.

    cloning: the agent clones what was done; `restraint` times the mean square of its preferences is added, without
    which whoever recorded half at random has that half learned by heart, too.
    """

    def __init__(
        self, network: DuelingNetwork, config: OfflineConfig, recording: Recording, streams: RandomStreams
    ) -> None:
        self.network, self.config, self.streams = network.eval(), config, streams
        self.actions = recording.actions
        self._data: Transitions = recording.transitions()
        self.updates = 0
        self._modules: dict[str, nn.Module] = {"network": network}
        groups = parameter_groups(network, config.learning_rate, structure_rate=config.structure_rate)
        if config.method == "cql":
            self._modules["target"] = _still(network)
        if config.method == "iql":
            judges = _Judges(network, self.actions)
            self._modules |= {"judges": judges, "target": _still(judges)}
            groups = [*groups, {"params": list(judges.parameters()), "lr": config.learning_rate}]
        self.optimizer = torch.optim.Adam(groups)
        losses: dict[str, Callable[[_Batch], Tensor]] = {
            "cql": self._conservative,
            "iql": self._implicit,
            "cloning": self._restrained,
        }
        self._loss = losses[config.method]

    @property
    def actor(self) -> nn.Module:
        """The network that acts."""
        return self.network

    def update(self) -> float:
        """One step on a batch that is drawn; its loss."""
        config = self.config
        places = self.streams.replay.integers(len(self._data.actions), size=config.batch_size)
        batch = _Batch.of(self._data, places, config.reward_scale)
        for name, module in self._modules.items():
            module.train(name != "target")
        loss = self._loss(batch)
        descend(self.optimizer, loss, clip_norm=config.clip_norm)
        self.network.eval()
        if "target" in self._modules:
            follows = self._modules["judges" if config.method == "iql" else "network"]
            _follow(self._modules["target"], follows, config.target_rate)
        self.updates += 1
        return float(loss.detach())

    def greedy(self, observations: Observations) -> NDArray[np.int64]:
        """The best actions (k,) for observations (k, *shape); changes nothing."""
        return greedy_actions(preferences_of(self.network), observations, self.actions, torch.device("cpu"))

    def sample_observations(self, count: int) -> Tensor:
        """Observations spread evenly over the recording."""
        places = np.linspace(0, len(self._data.actions) - 1, min(count, len(self._data.actions))).astype(int)
        return torch.from_numpy(self._data.observations[places])

    def state_dict(self) -> dict[str, Any]:
        """All that decides how learning goes on."""
        modules = {name: module.state_dict() for name, module in self._modules.items()}
        return {
            **modules,
            "optimizer": optimizer_state(self.optimizer),
            "updates": self.updates,
            "streams": self.streams.state_dict(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on exactly where `state_dict` was taken."""
        for name, module in self._modules.items():
            module.load_state_dict(state[name])
        load_optimizer_state(self.optimizer, state["optimizer"])
        self.updates = state["updates"]
        self.streams.load_state_dict(state["streams"])

    def _conservative(self, batch: _Batch) -> Tensor:
        values = self.network(batch.seen)
        taken = values.gather(1, batch.actions[:, None])[:, 0]
        with torch.no_grad():
            self.network.eval()
            best = self.network(batch.following).argmax(dim=1, keepdim=True)
            self.network.train()
            after = self._modules["target"](batch.following).gather(1, best)[:, 0]
            wanted = batch.rewards + self.config.discount * after * ~batch.terminated
        kept_low = (torch.logsumexp(values, dim=1) - taken).mean()
        loss: Tensor = F.huber_loss(taken, wanted) + self.config.conservatism * kept_low
        return loss

    def _implicit(self, batch: _Batch) -> Tensor:
        judges, target = self._modules["judges"], self._modules["target"]
        values, state = judges(batch.seen)
        taken = values.gather(1, batch.actions[:, None])[:, 0]
        with torch.no_grad():
            after = target(batch.following)[1]
            wanted = batch.rewards + self.config.discount * after * ~batch.terminated
            known = target(batch.seen)[0].gather(1, batch.actions[:, None])[:, 0]
        ahead = known - state
        expectile = torch.where(ahead > 0, self.config.expectile, 1 - self.config.expectile)
        weight = (self.config.sharpness * ahead.detach()).exp().clamp(max=MOST_WEIGHT)
        judged = F.huber_loss(taken, wanted) + (expectile * ahead.square()).mean()
        loss: Tensor = judged + (weight * self._cloned(batch)).mean()
        return loss

    def _restrained(self, batch: _Batch) -> Tensor:
        preferences = self.network.preferences(batch.seen)
        loss: Tensor = F.cross_entropy(preferences, batch.actions)
        return loss + self.config.restraint * preferences.square().mean()

    def _cloned(self, batch: _Batch) -> Tensor:
        return F.cross_entropy(self.network.preferences(batch.seen), batch.actions, reduction="none")


class _Judges(nn.Module):
    """Values of actions (B, A) and of states (B,), by plain networks behind an encoder of their own."""

    def __init__(self, agent: DuelingNetwork, actions: int) -> None:
        super().__init__()
        self.encoder = copy.deepcopy(agent.encoder)
        features = int(self.encoder.out_features)  # type: ignore[arg-type]
        self.of_actions = dnn_head(features, actions, JUDGES, "ReLU", norm=True)
        self.of_states = dnn_head(features, 1, JUDGES, "ReLU", norm=True)

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        features = self.encoder(observations)
        return self.of_actions(features), self.of_states(features)[:, 0]


class _Batch:
    """Transitions as tensors."""

    def __init__(
        self, seen: Tensor, actions: Tensor, rewards: Tensor, following: Tensor, terminated: Tensor
    ) -> None:
        self.seen, self.actions, self.rewards = seen, actions, rewards
        self.following, self.terminated = following, terminated

    @classmethod
    def of(cls, data: Transitions, places: NDArray[np.int64], scale: float) -> _Batch:
        return cls(
            torch.from_numpy(data.observations[places]),
            torch.from_numpy(data.actions[places]),
            torch.from_numpy(data.rewards[places] * np.float32(scale)),
            torch.from_numpy(data.following[places]),
            torch.from_numpy(data.terminated[places]),
        )


def _still(module: nn.Module) -> nn.Module:
    """A copy that does not learn."""
    return copy.deepcopy(module).requires_grad_(False).eval()


@torch.no_grad()
def _follow(target: nn.Module, module: nn.Module, rate: float) -> None:
    for slow, fast in zip(target.parameters(), module.parameters(), strict=True):
        slow.lerp_(fast.detach(), rate)
    for still, live in zip(target.buffers(), module.buffers(), strict=True):
        still.copy_(live)
