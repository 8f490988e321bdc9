"""Where all randomness of a run comes from: one seed, split into independent streams."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from ..errors import at_least
from .episodes import Stream, episode_seed, mix

__all__ = ["RandomStreams", "Stream", "episode_seed", "mix"]

# A generator's place in this list is its identity: append, never reorder.
_GENERATORS = ("exploration", "replay", "torch", "device")


class RandomStreams:
    """Independent generators derived from one seed.

    `exploration` and `replay` are NumPy generators; PyTorch's global generators (initial weights, dropout,
    the noise of neuro-fuzzy networks) are seeded when this object is made. So make it before the network.
    """

    def __init__(self, seed: int) -> None:
        self.seed = at_least("seed", seed, 0)
        children = dict(zip(_GENERATORS, np.random.SeedSequence(seed).spawn(len(_GENERATORS)), strict=True))
        self.exploration = np.random.default_rng(children["exploration"])
        self.replay = np.random.default_rng(children["replay"])
        torch.manual_seed(int(children["torch"].generate_state(1, np.uint64)[0]))
        # A whole number before it is halved: NumPy 1 shifts no uint64 by an int.
        self._device_seed = int(children["device"].generate_state(1, np.uint64)[0]) >> 1
        self._on_device: torch.Generator | None = None

    def on_device(self, device: torch.device) -> torch.Generator:
        """The generator of that device, whose numbers a learner draws there; one device in a run."""
        if self._on_device is None:
            self._on_device = torch.Generator(device).manual_seed(self._device_seed)
        return self._on_device

    def state_dict(self) -> dict[str, Any]:
        """The state of every generator, PyTorch's included: tensors and what JSON can hold."""
        cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []  # type: ignore[no-untyped-call]
        state = {
            "seed": self.seed,
            "exploration": self.exploration.bit_generator.state,
            "replay": self.replay.bit_generator.state,
            "torch": torch.get_rng_state(),
            "cuda": list(cuda),
        }
        if self._on_device is not None:
            state["device"] = self._on_device.get_state()
        return state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Put every generator, PyTorch's included, back to where `state_dict` found it."""
        self.seed = state["seed"]
        self.exploration.bit_generator.state = state["exploration"]
        self.replay.bit_generator.state = state["replay"]
        torch.set_rng_state(state["torch"])
        if self._on_device is not None and "device" in state:
            self._on_device.set_state(state["device"])
        if len(state["cuda"]) == torch.cuda.device_count():
            torch.cuda.set_rng_state_all(state["cuda"])
        elif state["cuda"]:
            warnings.warn(
                f"the random states of {len(state['cuda'])} CUDA devices were saved, this machine has "
                f"{torch.cuda.device_count()}: the run goes on, but not exactly as it would have",
                stacklevel=2,
            )
