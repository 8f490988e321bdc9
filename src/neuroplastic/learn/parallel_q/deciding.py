"""Which actions are best, and what they are worth: asked for many games at once."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ..capturing import RecordedPass, check_values
from ..experience import Observations
from ..greedy import action_values

Best = tuple[NDArray[np.int64], NDArray[np.float32]]
"""The best actions (k,), and their values."""


class Decisions:
    """By the network that plays, or for `judging` by that which learns; both are in evaluation mode then.

    Where they are `resident`, passes are recorded, and may be launched and waited for later.
    """

    def __init__(
        self,
        playing: nn.Module,
        learning: nn.Module,
        actions: int,
        device: torch.device,
        *,
        resident: bool,
        capture: bool,
    ) -> None:
        self._playing, self._learning, self._actions, self._device = playing, learning, actions, device
        self._resident = resident
        why_not = None if capture else "capture is off"

        def recorded(network: nn.Module) -> RecordedPass:
            return RecordedPass(
                "a decision",
                partial(self._valued, network),
                device,
                why_not=lambda: why_not,
                silent=not capture,
            )

        self._play = recorded(playing)
        self._judge = recorded(learning) if learning is not playing else self._play

    @property
    def latest(self) -> Tensor | None:
        """The observations of the latest decision on the device; None where they were only on the host."""
        return self._play.latest

    @torch.inference_mode()
    def best(self, observations: Observations, *, judging: bool = False) -> Best:
        """For observations (k, *shape)."""
        self._evaluate()
        if self._resident:
            return _whole((self._judge if judging else self._play)(observations))
        network = self._learning if judging else self._playing
        values, best = action_values(network, observations, self._actions, self._device).max(dim=1)
        return best.cpu().numpy(), values.float().cpu().numpy()

    @torch.inference_mode()
    def launch(self, observations: Tensor) -> None:
        """Begin to find them for observations (k, *shape) on the device."""
        self._evaluate()
        self._play.launch(observations)

    def launched(self) -> Best:
        """For what was launched, waited for."""
        return _whole(self._play.answer())

    def values(self, observations: Observations, games: int) -> NDArray[np.float32]:
        """Values (k,) of the best actions; a recorded pass values as many at a time as there are games."""
        if not self._resident:
            return self.best(observations)[1]
        missing = -len(observations) % games
        padded = np.concatenate((observations, observations[:1].repeat(missing, axis=0)))
        parts = np.split(padded, len(padded) // games)
        return np.concatenate([self.best(part)[1] for part in parts])[: len(observations)]

    def forget(self) -> None:
        """Record anew: tensors of the networks lie elsewhere now."""
        self._play.forget()
        self._judge.forget()

    def _evaluate(self) -> None:
        if self._learning.training:
            self._learning.eval()

    def _valued(self, network: nn.Module, observations: Tensor) -> Tensor:
        """The best actions and their values, (2, k), as one tensor: one copy comes back."""
        values = check_values(network(observations), len(observations), self._actions)
        worth, best = values.max(dim=1)
        return torch.stack((best.to(worth.dtype), worth))


def _whole(given: NDArray[np.float32]) -> Best:
    best, values = given
    return best.astype(np.int64), values
