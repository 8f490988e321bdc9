"""Which actions are best, and what they are worth: asked for many games at once."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ..capturing import RecordedPass, check_values
from ..exchanging import Exchange, Pinned
from ..experience import Observations
from ..greedy import action_values

Best = tuple[NDArray[np.int64], NDArray[np.float32]]
"""The best actions (k,), and their values."""


class Decisions:
    """By the network that plays, or for `judging` by that which learns; both are in evaluation mode then.

    Where they are `resident`, passes are recorded; upon memory that games show themselves in they can be launched, and
    waited for later.
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
        self._why_not, self._silent = why_not, not capture
        self._memory: Observations | None = None
        self._exchanges: dict[tuple[int, int], Exchange] = {}
        self._launched: Exchange | NDArray[np.float32] | None = None

    def read_from(self, memory: Observations) -> None:
        """Decisions will be launched upon rows of this memory, (games, *shape)."""
        if memory is not self._memory:
            self._memory = memory
            self._exchanges.clear()

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
    def launch(self, games: slice) -> None:
        """Begin to find them for what some games show now."""
        assert self._memory is not None
        self._evaluate()
        if self._device.type != "cuda":
            shown = torch.from_numpy(self._memory[games])
            self._launched = self._valued(self._playing, shown).float().numpy()
            return
        key = games.start, games.stop
        if key not in self._exchanges:
            self._exchanges[key] = Exchange(
                "a decision",
                partial(self._valued, self._playing),
                Pinned.of(self._memory),
                games,
                self._device,
                why_not=lambda: self._why_not,
                silent=self._silent,
            )
        self._launched = self._exchanges[key]
        self._launched.launch()

    def launched(self) -> Best:
        """For what was launched, waited for."""
        launched, self._launched = self._launched, None
        assert launched is not None
        return _whole(launched.answer() if isinstance(launched, Exchange) else launched)

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
        self._exchanges.clear()

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
