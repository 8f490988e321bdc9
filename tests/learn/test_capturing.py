"""The update of a learner as one program without questions to the host, and what is replayed of it."""

import copy

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from neuroplastic.errors import ConfigError
from neuroplastic.fuzzy.tracing import recording
from neuroplastic.learn import QConfig, QLearning, RandomStreams, device_memory
from neuroplastic.learn.capturing import RecordedStep, why_not_captured
from neuroplastic.learn.device_memory import check_room
from neuroplastic.learn.experience import Setting
from neuroplastic.learn.parallel_q.config import ParallelQConfig
from neuroplastic.learn.parallel_q.learner import ParallelQLearning
from neuroplastic.learn.radam import DeviceRAdam
from tests.learn.agents import dnn_network, nfn_network, small_dnn_network, small_nfn_network
from tests.learn.corridor import ACTIONS, CELLS, MIRRORED, Corridor
from tests.learn.loop import Loop, equal_states
from tests.learn.test_contract import NETWORKS

WAITS = ("_local_scalar_dense", "nonzero", "equal", "is_nonzero", "masked_select", "unique")


class NoWaits(TorchDispatchMode):
    """Refuses what would have the host wait for a GPU: to look at a value, or a shape that depends on values."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = function.overloadpacket.__name__
        if name in WAITS:
            raise AssertionError(f"{name} asks for a value")
        if name == "index" and any(index is not None and index.dtype == torch.bool for index in args[1]):
            raise AssertionError("an index by a mask has a shape that depends on values")
        return function(*args, **(kwargs or {}))


def resident(network, *, learning_rate=1e-3, seed=0, actions=4, **fields) -> QLearning:
    config = QConfig(batch_size=8, memory_size=60, learning_rate=learning_rate, **fields)
    learner = QLearning(
        network,
        config,
        actions=actions,
        streams=RandomStreams(seed),
        resident=True,
        mirrored_actions=(1, 0, 2, 3),
        total_steps=100,
    )
    generator = np.random.default_rng(seed)
    learner.replay.begin(generator.integers(0, 256, (84, 84, 3), dtype=np.uint8))
    for step in range(40):
        following = generator.integers(0, 256, (84, 84, 3), dtype=np.uint8)
        learner.replay.append(
            step % actions, float(generator.normal()), following, advice=step % (actions + 1) - 1
        )
    return learner


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"n_step": 3, "loss": "huber", "clip_norm": 1.0},
        {"shift_pixels": 1, "mirror": True},
        {"taught": 1.0, "mirror": True},
        {"taught": 1.0, "mirror": True, "mirror_agreement": 1.0},
    ],
    ids=["plain", "n-step", "augmented", "taught", "both-ways"],
)
def test_an_update_of_a_resident_learner_asks_the_host_nothing(fields):
    torch.manual_seed(0)
    learner = resident(small_dnn_network(4), **fields)
    learner.step()  # makes the optimizer's state
    with NoWaits():
        assert learner.step() is not None


@pytest.mark.parametrize("network", [dnn_network, small_nfn_network, nfn_network])
def test_an_update_of_every_network_that_can_be_recorded_asks_the_host_nothing(network):
    torch.manual_seed(0)
    learner = resident(network(4))
    for _ in range(4):
        learner.step()
    assert why_not_captured(learner.network) is None
    with NoWaits():
        assert learner.step() is not None


def test_the_update_of_a_resident_learner_equals_the_one_from_the_host_for_equal_batches(monkeypatch):
    torch.manual_seed(0)
    network = small_dnn_network(4)
    fields = {"batch_size": 8, "memory_size": 60, "n_step": 3, "learning_rate": 1e-3, "target_every": 5}
    host, device = (
        QLearning(
            copy.deepcopy(network), QConfig(**fields), actions=4, streams=RandomStreams(0), resident=resident
        )
        for resident in (False, True)
    )
    rng = np.random.default_rng(0)
    frames = rng.integers(0, 256, (41, 84, 84, 3), dtype=np.uint8)
    for learner in (host, device):
        learner.replay.begin(frames[0])
        for step in range(40):
            ended = step % 7 == 6
            learner.replay.append(step % 4, float(step % 3), None if ended else frames[step + 1])
            if ended:
                learner.replay.begin(frames[step + 1])
    drawn = np.random.default_rng(1)
    monkeypatch.setattr(device.replay, "draw", lambda count: device.replay.sample(count, drawn))
    host.streams.replay = np.random.default_rng(1)
    for _ in range(12):
        torch.testing.assert_close(device.step(), host.step(), rtol=1e-6, atol=1e-6)
    for mine, theirs in zip(device.network.parameters(), host.network.parameters(), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "fields",
    [{}, {"shift_pixels": 1, "mirror": True, "n_step": 2}, {"mirror": True, "mirror_agreement": 1.0}],
)
def test_a_resident_learner_is_taken_up_again_to_the_last_bit(fields):
    torch.manual_seed(0)
    one = resident(small_dnn_network(4), **fields)
    for _ in range(3):
        one.step()
    state = copy.deepcopy(one.state_dict())
    other = resident(small_dnn_network(4), seed=3, **fields)
    other.load_state_dict(state)
    for _ in range(3):
        assert torch.equal(one.step(), other.step())
    assert equal_states(one.state_dict(), other.state_dict())
    assert np.array_equal(*(learner.greedy(learner.replay.current_frame[None]) for learner in (one, other)))


def test_a_step_on_a_cpu_is_run_each_time():
    runs = []
    step = RecordedStep("it", lambda: runs.append(1) or torch.tensor(len(runs)), torch.device("cpu"))
    assert [int(step()) for _ in range(6)] == [1, 2, 3, 4, 5, 6]
    assert not step.captured


def test_a_memory_too_large_for_the_device_is_refused_with_the_estimate(monkeypatch):
    monkeypatch.setattr(device_memory, "free_bytes", lambda device: 2_000_000_000)
    check_room(torch.device("cuda"), 1_900_000_000, "a memory", "memory_size")
    with pytest.raises(
        ConfigError, match=r"needs 2\.1 GB on cuda, and 2\.0 GB are free there; choose a smaller mem"
    ):
        check_room(torch.device("cuda"), 2_100_000_000, "a memory of 100000 frames", "memory_size")


def many_games(network, *, resident: bool | None, seed: int = 0, **fields) -> Loop:
    config = ParallelQConfig(training_games=4, rollout=6, passes=2, batch_size=9, mirror=True, **fields)
    setting = Setting(ACTIONS, RandomStreams(seed), 240, torch.device("cpu"), MIRRORED)
    learner = ParallelQLearning(network, config, setting, resident=resident)
    return Loop(lambda: Corridor(pictures=True), learner)


@pytest.mark.parametrize("network", NETWORKS)
def test_many_games_learned_on_the_device_equal_those_from_the_host(network):
    torch.manual_seed(0)
    made = NETWORKS[network](2 * CELLS)
    rounds = [list(many_games(copy.deepcopy(made), resident=resident).run(40)) for resident in (False, True)]
    assert [one.actions for one in rounds[0]] == [one.actions for one in rounds[1]]
    losses = [[one.loss for one in each if one.loss is not None] for each in rounds]
    np.testing.assert_allclose(*losses, rtol=1e-4, atol=1e-6)


def test_many_games_learned_on_the_device_are_taken_up_again_to_the_last_bit():
    torch.manual_seed(0)
    made = NETWORKS["plain"](2 * CELLS)
    one = many_games(copy.deepcopy(made), resident=True)
    list(one.run(9))  # in the middle of a rollout
    state = copy.deepcopy(one.state_dict())
    rounds = list(one.run(9))
    other = many_games(made, resident=True, seed=1)
    other.load_state_dict(state)
    assert list(other.run(9)) == rounds
    assert equal_states(one.state_dict(), other.state_dict())


def test_an_update_of_many_games_on_the_device_asks_the_host_nothing():
    torch.manual_seed(0)
    loop = many_games(NETWORKS["plain"](2 * CELLS), resident=True)
    list(loop.run(8))
    learner = loop.learner
    with NoWaits(), recording():
        learner._updates._learned(8)


def test_radam_on_the_device_is_radam():
    torch.manual_seed(0)
    one = [torch.randn(3, 4, requires_grad=True), torch.randn(5, requires_grad=True)]
    other = [parameter.detach().clone().requires_grad_() for parameter in one]
    radam, mine = torch.optim.RAdam(one, lr=0.1), DeviceRAdam(other, lr=0.1)
    for step in range(12):  # the correction begins with the sixth
        for parameters, optimizer in ((one, radam), (other, mine)):
            loss = sum((parameter.sin() * (step % 3 + 1)).sum() for parameter in parameters)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        torch.testing.assert_close(one, other, rtol=1e-6, atol=1e-6)
    assert radam.state_dict()["state"].keys() == mine.state_dict()["state"].keys()
