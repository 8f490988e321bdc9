"""What changes once half of a run's steps are over: batches, returns, and heads that begin anew."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import torch
from torch import nn
from torch.optim import Optimizer

from ...errors import ConfigError
from .replay import ReplayMemory

if TYPE_CHECKING:
    from .config import QConfig

_NAMES = ("late_batch", "late_n_step", "late_discount", "reset_heads")


class SecondHalf:
    """Knows whether the second half of a run has begun, and makes come true what is asked for there."""

    def __init__(self, config: QConfig, network: nn.Module, total_steps: int | None) -> None:
        asked = {name: getattr(config, name) for name in _NAMES}
        asked = {name: value for name, value in asked.items() if value is not None and value is not False}
        if asked and total_steps is None:
            name, value = next(iter(asked.items()))
            raise ConfigError(
                f"{name}={value} is for the second half of a run and needs total_steps, got None"
            )
        # Where nothing is asked for there is no second half: how long a run is does not matter then.
        self._asked = bool(asked)
        self.config = config
        self.begun = False
        # Where the heads begin anew: they are built from the run's seed, so a run taken up again has the same.
        self._first_heads = copy.deepcopy(_heads(network)) if config.reset_heads else {}

    @property
    def batch_size(self) -> int:
        """Transitions of an update now."""
        late = self.config.late_batch
        return late if late is not None and self.begun else self.config.batch_size

    def is_due(self, added: int, total_steps: int) -> bool:
        """Whether it begins with the update to come, after so many transitions of a run of so many steps."""
        return self._asked and not self.begun and added > total_steps / 2

    def take_up(self, replay: ReplayMemory, *, begun: bool) -> None:
        """Be where a run is, in its first half or in its second."""
        self.begun = begun
        n_step, discount = self.config.n_step, self.config.discount
        if begun:
            n_step = n_step if self.config.late_n_step is None else self.config.late_n_step
            discount = discount if self.config.late_discount is None else self.config.late_discount
        if (replay.n_step, replay.discount) != (n_step, discount):
            replay.change_returns(n_step, discount)

    @torch.no_grad()
    def reset(self, network: nn.Module, target: nn.Module, optimizer: Optimizer) -> None:
        """Have all but the encoder begin anew, and forget what the optimizer knows of it. The target becomes equal."""
        network.load_state_dict({**network.state_dict(), **self._first_heads})
        target.load_state_dict(network.state_dict())
        encoder = {id(parameter) for parameter in _encoder(network)}
        for parameter, moments in optimizer.state.items():
            if id(parameter) not in encoder:
                for moment in moments.values():
                    moment.zero_()


def _encoder(network: nn.Module) -> list[nn.Parameter]:
    encoder = getattr(network, "encoder", None)
    return list(encoder.parameters()) if isinstance(encoder, nn.Module) else []


def _heads(network: nn.Module) -> dict[str, object]:
    """All of the state but the encoder's."""
    return {name: value for name, value in network.state_dict().items() if not name.startswith("encoder.")}
