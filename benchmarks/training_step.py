"""One training step and one decision of the picture agents, beside an update of Stable-Baselines3's DQN.

A step samples a batch, makes three forward passes (state, argmax and target on the next state), one backward pass
and an Adam step. The peer has the same convolutions, batch norm, dropout, hidden width, batch and optimizer; it makes
two forward passes and has one head where the dueling agents have two, so it has less to do. All take turns in one
process. Run it with `python -m benchmarks.training_step`; the peer needs `pip install stable-baselines3`.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import nn

import neuroplastic as npl
from benchmarks.timing import Contestant, reuse_memory
from neuroplastic.learn import QConfig, QLearning, RandomStreams
from neuroplastic.network.dueling import DuelingNetwork, dnn_head
from neuroplastic.network.encoder import CONVOLUTIONS, FEATURES, PICTURE, PictureEncoder

ACTIONS = 8
BATCH = 56
HIDDEN = 512
RULES, TERMS = 256, 5
FRAMES = 2000
SECONDS = 60.0
PASSES_PER_TURN = 6
WARM_UP = 100

MakeAgent = Callable[[], nn.Module]
"""Makes a network from pictures (B, 84, 84, 3) to the values of `ACTIONS` actions."""


def dnn_agent() -> nn.Module:
    return DuelingNetwork(
        PictureEncoder(),
        dnn_head(FEATURES, 1, HIDDEN, "ReLU"),
        dnn_head(FEATURES, ACTIONS, HIDDEN, "ReLU"),
    )


def nfn_agent() -> nn.Module:
    heads = (
        npl.NeuroFuzzyNetwork(
            FEATURES, outputs, RULES, terms=TERMS, max_terms=TERMS, neurogenesis=npl.Neurogenesis()
        )
        for outputs in (1, ACTIONS)
    )
    return DuelingNetwork(PictureEncoder(), *heads)


def make_learner(make_agent: MakeAgent) -> QLearning:
    """A learner with random pictures in its memory, ready to step."""
    streams = RandomStreams(0)
    learner = QLearning(
        make_agent(), QConfig(batch_size=BATCH, memory_size=FRAMES), actions=ACTIONS, streams=streams
    )
    pictures = np.random.default_rng(0).integers(0, 256, (FRAMES, *PICTURE), dtype=np.uint8)
    learner.replay.begin(pictures[0])
    for number, picture in enumerate(pictures[1:]):
        learner.replay.append(number % ACTIONS, float(number % 3 - 1), picture)
    for _ in range(WARM_UP):  # the target's values of most frames are known, as they are in most of a run
        learner.step()
    return learner


def time_step(make_agent: MakeAgent, seconds: float = 10.0) -> float:
    """Best milliseconds of a training step of an agent, alone."""
    step = Contestant("step", make_learner(make_agent).step)
    take_turns([step], seconds)
    return step.milliseconds


def take_turns(contestants: Sequence[Contestant], seconds: float) -> None:
    """Let contestants run in turns of several passes each, as a training run would, not with another's caches."""
    started = time.perf_counter()
    while time.perf_counter() - started < seconds:
        for contestant in contestants:
            for _ in range(PASSES_PER_TURN):
                contestant.take_turn(with_draw=False)


def peer_update() -> Callable[[], object] | None:
    """An update of Stable-Baselines3's DQN; None where that is not installed."""
    if importlib.util.find_spec("stable_baselines3") is None:
        return None
    import gymnasium
    from stable_baselines3 import DQN
    from stable_baselines3.common.logger import configure
    from stable_baselines3.common.torch_layers import BaseFeaturesExtractor

    class Convolutions(BaseFeaturesExtractor):
        """The paper's convolutions, written as anyone would."""

        def __init__(self, observation_space: gymnasium.spaces.Box) -> None:
            super().__init__(observation_space, FEATURES)
            layers: list[nn.Module] = []
            for before, after, size, stride in CONVOLUTIONS:
                convolution = nn.Conv2d(before, after, size, stride, bias=False)
                layers += [convolution, nn.BatchNorm2d(after), nn.ReLU(), nn.Dropout(0.2)]
            self.layers = nn.Sequential(*layers, nn.Flatten())

        def forward(self, observations: torch.Tensor) -> torch.Tensor:
            return self.layers(observations)

    class Pictures(gymnasium.Env[np.ndarray, np.int64]):
        """Only its spaces are asked for."""

        observation_space = gymnasium.spaces.Box(0, 255, PICTURE, np.uint8)
        action_space = gymnasium.spaces.Discrete(ACTIONS)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            return np.zeros(PICTURE, np.uint8), {}

        def step(self, action):
            return np.zeros(PICTURE, np.uint8), 0.0, False, False, {}

    model = DQN(
        "CnnPolicy",
        Pictures(),
        batch_size=BATCH,
        buffer_size=FRAMES,
        policy_kwargs={
            "features_extractor_class": Convolutions,
            "net_arch": [HIDDEN, HIDDEN],
            "activation_fn": nn.ReLU,
        },
        device="cpu",
        seed=0,
    )
    model.set_logger(configure(None, []))
    memory, rng = model.replay_buffer, np.random.default_rng(0)
    for frames in (memory.observations, memory.next_observations):
        frames[:] = rng.integers(0, 256, frames.shape, dtype=np.uint8)
    memory.actions[:] = rng.integers(0, ACTIONS, memory.actions.shape)
    memory.rewards[:] = rng.normal(size=memory.rewards.shape)
    memory.full = True
    return lambda: model.train(gradient_steps=1, batch_size=BATCH)


def compare(seconds: float = SECONDS) -> dict[str, float]:
    """Best milliseconds of every step and decision, all taking turns."""
    learners = {"DNN": make_learner(dnn_agent), "NFN": make_learner(nfn_agent)}
    picture = np.random.default_rng(1).integers(0, 256, (1, *PICTURE), dtype=np.uint8)
    contestants = [Contestant(f"{name} step", learner.step) for name, learner in learners.items()]
    contestants += [
        Contestant(f"{name} decision", lambda learner=learner: learner.greedy(picture))
        for name, learner in learners.items()
    ]
    update = peer_update()
    if update is not None:
        contestants.insert(0, Contestant("SB3 DQN update", update))
    take_turns(contestants, seconds)
    return {contestant.name: contestant.milliseconds for contestant in contestants}


def main() -> None:
    reuse_memory()
    times = compare()
    print(
        f"batch {BATCH}, hidden {HIDDEN}, {RULES} rules, {TERMS} terms, {torch.get_num_threads()} threads, best of many"
    )
    for name, milliseconds in times.items():
        print(f"  {name:16s} {milliseconds:8.2f} ms")
    ratios = [
        ("DNN step", "SB3 DQN update", 0.8),
        ("NFN step", "DNN step", 2.5),
        ("NFN decision", "DNN decision", 3.0),
    ]
    for one, other, limit in ratios:
        if other in times:
            ratio = times[one] / times[other]
            verdict = "met" if ratio <= limit else "MISSED"
            print(f"  {one} / {other}: {ratio:.2f} (limit {limit}, {verdict})")
        else:
            print(f"  {one} / {other}: not measured; pip install stable-baselines3")


if __name__ == "__main__":
    main()
