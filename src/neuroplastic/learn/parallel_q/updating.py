"""The updates that a rollout is learned from by: at once, or on a GPU while the next one is played."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ...network.parameter_groups import parameter_groups
from ..capturing import RecordedStep, why_not_captured
from ..experience import Setting
from ..mirror import mirrored_pairs, turned
from ..optimizing import LOSSES, descend, hold_learning_rate, set_learning_rate
from ..radam import DeviceRAdam
from ..teaching import margin_loss, mirrored_advice
from .device_rollout import DeviceRollout
from .pending import PendingUpdates
from .rollout import Rollout

if TYPE_CHECKING:
    from .config import ParallelQConfig


class Updates:
    """Changes a network by the decisions of rollouts; knows their targets, not where these come from.

    Where it is `resident`, what is learned from lies on the device, and an update asks the host nothing.
    """

    def __init__(
        self, network: nn.Module, config: ParallelQConfig, setting: Setting, *, resident: bool
    ) -> None:
        self.network, self.config, self.resident = network, config, resident
        self.streams, self.device = setting.streams, torch.device(setting.device)
        groups = parameter_groups(network, config.learning_rate, structure_rate=config.structure_rate)
        self.optimizer: torch.optim.RAdam
        if resident:
            self.optimizer = DeviceRAdam(groups, config.learning_rate)
            hold_learning_rate(self.optimizer, self.device)
        else:
            self.optimizer = torch.optim.RAdam(groups)
        self.done = 0
        """updates so far, with those that are pending"""
        self._on_device: DeviceRollout | None = None
        self._taught = torch.zeros((), device=self.device)  # a tensor, for updates that are recorded
        self._mirrored_actions = (
            mirrored_pairs(setting.mirrored_actions, setting.actions).to(self.device)
            if config.mirror
            else None
        )
        self._pending = PendingUpdates((), self.device)
        # Where updates are made while games are played, so that decisions need not wait for them.
        apart = config.overlap and self.device.type == "cuda"
        self._aside = torch.cuda.Stream(self.device) if apart else None  # type: ignore[no-untyped-call]
        self._steps: dict[int, RecordedStep] = {}  # by the size of a part

    def settle(self, rollout: Rollout) -> None:
        """Make room on the device for rollouts like this one."""
        if not self.resident:
            return
        config = self.config
        self._on_device = DeviceRollout(
            config.rollout, rollout.current, self.device, passes=config.passes, apart=config.overlap
        )

    def bring(self, rollout: Rollout) -> None:
        """Have on the device what the decisions of a rollout that is full were made upon."""
        if self._on_device is not None:
            self._on_device.bring(rollout.held)

    def go_on(self, turns: int) -> None:
        """Make a share of the updates that are pending, of so many turns that are left."""
        with torch.cuda.stream(self._aside):
            self._pending.go_on(turns)

    def catch_up(self) -> None:
        """Make all updates that are pending; what comes after waits for them on the device."""
        self.go_on(1)
        if self._aside is not None:
            torch.cuda.current_stream(self.device).wait_stream(self._aside)

    def forget(self) -> None:
        """Drop what is pending, and record anew: the state is another one."""
        self._pending = PendingUpdates((), self.device)
        self._steps.clear()

    def learn(self, rollout: Rollout, targets: NDArray[np.float32], *, rate: float, taught: float) -> Tensor:
        """Make the updates of a rollout, or have them pending; their mean loss, which is no number until then."""
        set_learning_rate(self.optimizer, rate)
        self._taught.fill_(taught)
        if self._on_device is None:
            return self._learn_here(rollout, targets)
        return self._learn_on_device(self._on_device, rollout, targets)

    def _learn_here(self, rollout: Rollout, targets: NDArray[np.float32]) -> Tensor:
        states = torch.from_numpy(rollout.observations[:-1]).flatten(0, 1).to(self.device)
        decided = (
            torch.from_numpy(array).flatten().to(self.device)
            for array in (rollout.actions, targets, rollout.advice)
        )
        actions, wanted, advice = decided
        losses = []
        self.network.train()
        for _ in range(self.config.passes):
            for part in self._parts(self._order()):
                batch = torch.from_numpy(part).to(self.device)
                losses.append(self.once(states[batch], actions[batch], wanted[batch], advice[batch]))
        self.network.eval()
        return torch.stack(losses).mean()

    def once(self, states: Tensor, actions: Tensor, targets: Tensor, advice: Tensor) -> Tensor:
        """Make one update by these decisions; its loss."""
        turn = self._turn(len(states))
        self.done += 1
        seen = None if turn is None else torch.from_numpy(turn).to(self.device)
        return self._descended(states, actions, targets, advice, seen)

    def _learn_on_device(self, held: DeviceRollout, rollout: Rollout, targets: NDArray[np.float32]) -> Tensor:
        """Have them made from what lies on the device; the same numbers are drawn as elsewhere."""
        held.decide(rollout.actions, targets, rollout.advice)
        orders, turns, sizes = [], [], []
        for _ in range(self.config.passes):
            order = self._order()
            orders.append(order)
            for part in self._parts(order):
                sizes.append(len(part))
                turn = self._turn(len(part))
                if turn is not None:
                    turns.append(turn)
        held.line_up(np.concatenate(orders), np.concatenate(turns) if turns else None)
        self._pending = PendingUpdates(map(self._step, sizes), self.device)
        self.done += len(sizes)
        if self._aside is not None:
            self._aside.wait_stream(torch.cuda.current_stream(self.device))
        if not self.config.overlap:
            self.catch_up()
        return self._pending.loss

    def _order(self) -> NDArray[np.int64]:
        return self.streams.replay.permutation(self.config.decisions)

    def _parts(self, order: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        return np.array_split(order, max(1, round(self.config.decisions / self.config.batch_size)))

    def _turn(self, count: int) -> NDArray[np.bool_] | None:
        """Which of so many decisions are seen in a mirror; None: it is not asked for."""
        return None if self._mirrored_actions is None else self.streams.replay.random(count) < 0.5

    def _step(self, size: int) -> RecordedStep:
        """The update of a part of that size."""
        if size not in self._steps:
            off = None if self.config.capture else "capture is off"
            self._steps[size] = RecordedStep(
                "the update",
                lambda: self._learned(size),
                self.device,
                changes=lambda: (*self.network.parameters(), *self.network.buffers()),
                why_not=lambda: off or why_not_captured(self.network),
                silent=not self.config.capture or bool(self._steps),
            )
        return self._steps[size]

    def _learned(self, size: int) -> Tensor:
        """One update from the next part of the rollout on the device: a function of tensors that stay in place."""
        assert self._on_device is not None
        held = self._on_device
        places, turned = held.next_part(size)
        kept = (held.states, held.actions, held.targets, held.advice)
        states, actions, targets, advice = (part[places] for part in kept)
        self.network.train()
        loss = self._descended(states, actions, targets, advice, turned)
        self.network.eval()
        return loss

    def _descended(
        self, states: Tensor, actions: Tensor, targets: Tensor, advice: Tensor, turn: Tensor | None
    ) -> Tensor:
        """Change the parameters by these decisions, those of `turn` seen in a mirror where that is asked for."""
        if self._mirrored_actions is not None:
            assert turn is not None
            states = turned(states, turn)
            actions = torch.where(turn, self._mirrored_actions[actions], actions)
            advice = mirrored_advice(advice, turn, self._mirrored_actions)
        values = self.network(states)
        loss = LOSSES[self.config.loss](values.gather(1, actions[:, None]).squeeze(1), targets)
        if self.config.taught:
            loss = loss + self._taught * margin_loss(values, advice, self.config.taught_margin)
        descend(self.optimizer, loss, clip_norm=self.config.clip_norm)
        return loss.detach()
