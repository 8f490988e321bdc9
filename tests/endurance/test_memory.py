"""Memory stays flat: over 20,000 updates of every learner, and over 10,000 resets of every kind of game."""

import gc
import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

import neuroplastic as npl
from neuroplastic.experiment.game import Game
from neuroplastic.experiment.tasks import find_task
from neuroplastic.learn import ParallelQConfig, QConfig, RandomStreams
from neuroplastic.learn.experience import Setting
from neuroplastic.learn.offline import OfflineConfig, OfflineLearning
from tests import small_game  # noqa: F401  (makes its tasks known)
from tests.learn.corridor import CELLS, Corridor
from tests.learn.loop import Loop
from tests.learn.test_offline import agent, recording

UPDATES, RESETS, WARM = 20_000, 10_000, 0.2
GROWTH = 4 * 2**20
"""Bytes; an object of 64 bytes that each update left behind would take more than a quarter of it in what is watched."""

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]


def resident() -> int:
    """Bytes of memory that this process has."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def assert_flat(what: str, times: int, act: Callable[[], object], capsys: pytest.CaptureFixture[str]) -> None:
    """Act so many times; after the first fifth, memory grows no more."""
    warm = int(WARM * times)
    for _ in range(warm):
        act()
    before = resident()
    for _ in range(times - warm):
        act()
    grown = resident() - before
    with capsys.disabled():
        print(
            f"\n{what}: {times} times, {grown / 2**20:+.2f} MB after the first fifth of {before / 2**20:.0f} MB"
        )
    assert grown < GROWTH


def network_updates() -> Iterator[object]:
    """A network that bears sets until it has all, with noise renewed often."""
    torch.manual_seed(0)
    net = npl.NeuroFuzzyNetwork(
        4, 2, 8, max_terms=6, selection=npl.Selection(noise_hold=4), neurogenesis=npl.Neurogenesis(delay=50)
    )
    optimizer = torch.optim.Adam(net.parameters(), 1e-3)
    for number in itertools.count():
        x = (1 + number % 7) * torch.randn(16, 4)
        optimizer.zero_grad()
        (net(x) - x[:, :2]).square().mean().backward()
        optimizer.step()
        yield number


def of_learner(config: QConfig | ParallelQConfig) -> Iterator[object]:
    """Play and updates in a corridor."""
    torch.manual_seed(0)
    net = npl.NeuroFuzzyNetwork(CELLS + 1, 2, 6)
    setting = Setting(actions=2, streams=RandomStreams(0), total_steps=UPDATES)
    loop = Loop(lambda: Corridor(pictures=False), config.build(net, setting))
    while True:
        yield loop.round().loss


def offline_updates() -> Iterator[object]:
    """Updates from a recording."""
    learner = OfflineLearning(agent("nfn"), OfflineConfig(batch_size=16), recording(), RandomStreams(0))
    while True:
        yield learner.update()


def estimator_updates() -> Iterator[object]:
    """Batches of a table that goes on and on."""
    rng = np.random.default_rng(0)
    model = npl.NeuroFuzzyRegressor(rules=4, random_state=0)
    while True:
        x = rng.normal(size=(32, 3))
        yield model.partial_fit(x, x[:, 0] * x[:, 1])


LEARNERS: dict[str, Callable[[], Iterator[object]]] = {
    "network": network_updates,
    "dqn": lambda: of_learner(QConfig(batch_size=8, memory_size=500, learning_starts=8, target_every=50)),
    "parallel_q": lambda: of_learner(ParallelQConfig(training_games=4, rollout=4, batch_size=8)),
    "offline": offline_updates,
    "partial_fit": estimator_updates,
}


@pytest.mark.parametrize("name", LEARNERS)
def test_memory_is_flat_over_20000_updates(name, capsys):
    updates = LEARNERS[name]()
    assert_flat(f"updates of {name}", UPDATES, lambda: next(updates), capsys)


@pytest.mark.parametrize("key", ["CartPole-v1", "tests.small_game:catch", "tests.small_game:corridor"])
def test_memory_is_flat_over_10000_resets(key, capsys):
    episodes = itertools.count()
    with Game(find_task(key), seed=0, stream="training") as game:

        def reset() -> None:
            game.begin(next(episodes))
            game.act(0)

        assert_flat(f"resets of {key}", RESETS, reset, capsys)
