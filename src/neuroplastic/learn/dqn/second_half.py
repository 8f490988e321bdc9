"""What changes once half of a run's steps are over: batches, returns, and heads that begin anew."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import torch
from torch import nn
from torch.optim import Optimizer

from ...errors import ConfigError, at_least
from .replay import ReplayMemory

if TYPE_CHECKING:
    from .config import QConfig

_WORDS = {
    "late_batch": "begins",
    "late_n_step": "begins",
    "late_discount": "begins",
    "reset_heads": "comes",
}


class SecondHalf:
    """Knows when the second half of a run begins, and makes what is asked for there come true."""

    def __init__(self, config: QConfig, network: nn.Module, total_steps: int | None) -> None:
        for name, verb in _WORDS.items():
            asked = getattr(config, name)
            if asked and total_steps is None:
                raise ConfigError(f"{name}={asked} {verb} at half of the run and needs total_steps, got None")
        self.config = config
        self.total_steps = 1 if total_steps is None else at_least("total_steps", total_steps, 1)
        self.begun = False
        # Where the heads begin anew: they are built from the run's seed, so a run taken up again has the same.
        self._first_heads = copy.deepcopy(_heads(network)) if config.reset_heads else {}

    def is_due(self, added: int) -> bool:
        """Whether more than half of the steps are over after so many transitions."""
        return 2 * added > self.total_steps

    def batch_size(self, added: int) -> int:
        """Transitions of an update after so many were remembered."""
        late = self.config.late_batch
        return late if late is not None and self.is_due(added) else self.config.batch_size

    def begin(self, replay: ReplayMemory) -> None:
        """From now on returns are those of the second half."""
        self.begun = True
        config = self.config
        n_step = config.n_step if config.late_n_step is None else config.late_n_step
        discount = config.discount if config.late_discount is None else config.late_discount
        replay.change_returns(n_step, discount)

    def take_up(self, replay: ReplayMemory, *, begun: bool) -> None:
        """Be where a run was that is taken up again."""
        self.begun = False
        replay.change_returns(self.config.n_step, self.config.discount)
        if begun:
            self.begin(replay)

    @torch.no_grad()
    def reset(self, network: nn.Module, target: nn.Module, optimizer: Optimizer) -> None:
        """Have all but the encoder begin anew where that is asked for, and forget what the optimizer knows of it."""
        if not self.config.reset_heads:
            return
        network.load_state_dict({**network.state_dict(), **self._first_heads})
        target.load_state_dict(network.state_dict())
        encoder = {id(parameter) for parameter in _encoder(network)}
        for parameter, moments in optimizer.state.items():
            if id(parameter) not in encoder:
                for moment in moments.values():
                    moment.zero_()  # in place: a recorded update goes on with the same tensors


def _encoder(network: nn.Module) -> list[nn.Parameter]:
    encoder = getattr(network, "encoder", None)
    return list(encoder.parameters()) if isinstance(encoder, nn.Module) else []


def _heads(network: nn.Module) -> dict[str, object]:
    """All of the state but the encoder's."""
    return {name: value for name, value in network.state_dict().items() if not name.startswith("encoder.")}
