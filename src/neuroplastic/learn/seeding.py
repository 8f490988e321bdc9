"""Where all randomness of a run comes from: one seed, split into independent streams."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import torch

from ..errors import at_least

# A stream's place in this list is its identity: append, never reorder.
_STREAMS = ("exploration", "replay", "torch")
_PURPOSES = {"training": 0, "evaluation": 1}
_EPISODES_KEY = 1000  # spawn key of episode seeds, away from those of the streams


class RandomStreams:
    """Independent generators derived from one seed.

    `exploration` and `replay` are NumPy generators; PyTorch's global generators (initial weights, dropout,
    the noise of neuro-fuzzy networks) are seeded when this object is made. So make it before the network.
    """

    def __init__(self, seed: int) -> None:
        self.seed = at_least("seed", seed, 0)
        children = dict(zip(_STREAMS, np.random.SeedSequence(seed).spawn(len(_STREAMS)), strict=True))
        self.exploration = np.random.default_rng(children["exploration"])
        self.replay = np.random.default_rng(children["replay"])
        torch.manual_seed(int(children["torch"].generate_state(1, np.uint64)[0]))

    def state_dict(self) -> dict[str, Any]:
        """The state of every generator, PyTorch's included: tensors and what JSON can hold."""
        cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []  # type: ignore[no-untyped-call]
        return {
            "seed": self.seed,
            "exploration": self.exploration.bit_generator.state,
            "replay": self.replay.bit_generator.state,
            "torch": torch.get_rng_state(),
            "cuda": list(cuda),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Put every generator, PyTorch's included, back to where `state_dict` found it."""
        self.seed = state["seed"]
        self.exploration.bit_generator.state = state["exploration"]
        self.replay.bit_generator.state = state["replay"]
        torch.set_rng_state(state["torch"])
        if len(state["cuda"]) == torch.cuda.device_count():
            torch.cuda.set_rng_state_all(state["cuda"])
        elif state["cuda"]:
            warnings.warn(
                f"the random states of {len(state['cuda'])} CUDA devices were saved, this machine has "
                f"{torch.cuda.device_count()}: the run goes on, but not exactly as it would have",
                stacklevel=2,
            )


def episode_seed(seed: int, episode: int, purpose: Literal["training", "evaluation"] = "training") -> int:
    """Seed of one episode, in [0, 2**31): a function of the run's seed, the episode's number and its purpose.

    Training seeds are even and evaluation seeds odd, so that no agent is judged on an episode it trained on.
    """
    key = (_EPISODES_KEY, _PURPOSES[purpose], at_least("episode", episode, 0))
    word = int(np.random.SeedSequence(seed, spawn_key=key).generate_state(1)[0])
    return (word >> 2 << 1) | _PURPOSES[purpose]
