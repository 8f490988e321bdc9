"""What changes at half of a run, and rewards on one scale: returns, heads that begin anew, and runs taken up again."""

import copy

import numpy as np
import pytest
import torch

from neuroplastic.errors import ConfigError
from neuroplastic.learn import QConfig, QLearning, RandomStreams
from neuroplastic.learn.dqn.device_replay import DeviceReplay
from neuroplastic.learn.dqn.replay import ReplayMemory
from neuroplastic.learn.dqn.reward_spread import RewardSpread
from tests.learn.agents import small_dnn_network, small_nfn_network
from tests.learn.catch import Catch
from tests.learn.loop import Loop, equal_states

NETWORKS = {"dnn": small_dnn_network, "nfn": small_nfn_network}
STEPS = 60


def started(
    network: str = "dnn", *, resident: bool = False, total_steps: int = STEPS, **fields: object
) -> Loop:
    config = QConfig(**{"batch_size": 4, "memory_size": 50, "learning_rate": 1e-2, **fields})  # type: ignore[arg-type]
    torch.manual_seed(0)
    learner = QLearning(
        NETWORKS[network](3),
        config,
        actions=3,
        streams=RandomStreams(0),
        total_steps=total_steps,
        resident=resident,
    )
    return Loop(lambda: Catch(3), learner)


def run(loop: Loop, steps: int) -> list[float | None]:
    return [played.loss for played in loop.run(steps)]


@pytest.mark.parametrize("resident", [False, True])
def test_returns_are_those_of_the_second_half_once_more_than_half_of_the_steps_are_over(resident):
    loop = started(resident=resident, n_step=2, late_n_step=1, discount=0.5, late_discount=0.75)
    replay = loop.learner.replay
    run(loop, STEPS // 2)
    steps = np.arange(20)
    first = replay.gather(steps)
    assert (replay.n_step, set(first.discounts.tolist())) == (2, {0.0, 0.25})
    run(loop, 1)
    late = replay.gather(steps)
    assert (replay.n_step, set(late.discounts.tolist())) == (1, {0.0, 0.75})
    assert not torch.equal(first.returns, late.returns)  # two rewards, then one
    assert late.returns.tolist() == [float(replay._rewards[step]) for step in steps]


def test_a_memory_on_a_device_gathers_the_same_after_the_change():
    cpu = torch.device("cpu")
    memories = (
        ReplayMemory(50, n_step=2, discount=0.7),
        DeviceReplay(50, n_step=2, discount=0.7, device=cpu, generator=torch.Generator()),
    )
    for memory in memories:
        generator = np.random.default_rng(0)
        memory.begin(np.zeros(3, np.uint8))
        for step in range(40):
            frame, ended = generator.integers(0, 256, 3, np.uint8), step % 9 == 8
            memory.append(step % 2, float(generator.normal()), None if ended else frame)
            if ended:
                memory.begin(frame)
        memory.change_returns(5, 0.9)
    assert len(memories[0]) == len(memories[1])
    batches = [memory.gather(np.arange(30)) for memory in memories]
    for name in ("returns", "discounts", "next_steps"):
        np.testing.assert_allclose(*(getattr(batch, name) for batch in batches), rtol=1e-5)


@pytest.mark.parametrize("network", NETWORKS)
def test_heads_begin_anew_and_the_encoder_goes_on(network):
    loop = started(network, reset_heads=True, target_every=1000)
    learner = loop.learner
    at_first = copy.deepcopy(learner.network.state_dict())
    run(loop, STEPS // 2)
    before = copy.deepcopy(learner.network.state_dict())
    learner._begin_second_half()
    after = learner.network.state_dict()
    weights = [
        name for name, value in after.items() if isinstance(value, torch.Tensor) and value.is_floating_point()
    ]
    for name in weights:
        kept = before if name.startswith("encoder.") else at_first
        assert torch.equal(after[name], kept[name]), name
    assert any(not torch.equal(before[name], at_first[name]) for name in weights if "encoder." not in name)
    assert equal_states(learner.target.state_dict(), after)


def test_the_optimizer_counts_the_heads_updates_from_half_of_the_run_on():
    loop = started(reset_heads=True)
    updates = sum(loss is not None for loss in run(loop, STEPS // 2 + 1))
    encoder = set(loop.learner.network.encoder.parameters())
    counts = {
        (parameter in encoder, int(known["step"]))
        for parameter, known in loop.learner.optimizer.state.items()
    }
    assert counts == {(True, updates), (False, 1)}


@pytest.mark.parametrize("resident", [False, True])
def test_longer_returns_wait_until_there_are_some(resident):
    """An episode that has not ended may be shorter than what is to be summed late."""
    learner = started(resident=resident, n_step=1, late_n_step=40, memory_size=100).learner
    learner.begin(np.zeros((1, 84, 84, 3), np.uint8))
    for step in range(STEPS // 2 + 3):
        learner.replay.append(0, 1.0, np.full((84, 84, 3), step, np.uint8))
        assert (learner.step() is None) == (step < 3 or step >= STEPS // 2)
    for step in range(20):
        learner.replay.append(0, 1.0, np.full((84, 84, 3), step, np.uint8))
    assert learner.step() is not None


def test_without_anything_late_the_half_changes_nothing():
    """Kept values of the target are equal to new ones but for rounding: they must stay."""
    loop = started(n_step=2, target_every=1000)
    run(loop, STEPS // 2)
    kept = copy.deepcopy(loop.learner._target_values.state_dict())
    loop.learner._begin_second_half()
    assert equal_states(loop.learner._target_values.state_dict(), kept)
    assert (loop.learner.replay.n_step, loop.learner.batch_size) == (2, 4)


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("pause", [20, 45], ids=["before the half", "after it"])
def test_a_run_taken_up_again_goes_on_bit_for_bit(network, pause):
    options = {
        "n_step": 3,
        "late_n_step": 1,
        "discount": 0.8,
        "late_discount": 0.9,
        "reset_heads": True,
        "normalise_rewards": True,
        "late_batch": 6,
    }
    whole = started(network, **options)
    run(whole, pause)
    state = copy.deepcopy(whole.state_dict())
    expected = run(whole, STEPS - pause)
    resumed = started(network, **options)
    run(resumed, 50)  # whatever it did before
    resumed.load_state_dict(state)
    assert run(resumed, STEPS - pause) == expected
    assert equal_states(resumed.state_dict(), whole.state_dict())


def test_a_run_that_is_extended_keeps_the_half_that_it_began_with():
    first = started(late_batch=6)
    run(first, 20)
    extended = started(late_batch=6, total_steps=100 * STEPS)
    extended.load_state_dict(copy.deepcopy(first.state_dict()))
    run(extended, STEPS // 2 - 20)
    assert extended.learner.batch_size == 4
    run(extended, 1)
    assert extended.learner.batch_size == 6


def test_an_update_that_was_recorded_with_the_heads_before_is_not_replayed(monkeypatch):
    """New heads may have to see data first, which a recorded update does not ask for."""
    learner = started(reset_heads=True).learner
    forgotten = []
    monkeypatch.setattr(learner._update, "forget", lambda: forgotten.append("update"))
    learner._begin_second_half()
    assert forgotten == ["update"]


def test_spread_is_that_of_discounted_returns_so_far():
    rewards, ends = np.random.default_rng(0).normal(3, 2, 40), np.arange(40) % 7 == 6
    spread = RewardSpread(0.9, torch.device("cpu"))
    assert spread.factor == 1
    returns, summed = [], 0.0
    for reward, ended in zip(rewards, ends, strict=True):
        spread.see(float(reward), ended=bool(ended))
        summed = reward + 0.9 * summed
        returns.append(summed)
        summed = 0.0 if ended else summed
    assert float(spread.factor) == pytest.approx(1 / np.std(returns), rel=1e-6)


def test_targets_are_of_rewards_that_were_normalised():
    loop = started(normalise_rewards=True, reward_scale=2.0)
    run(loop, 20)
    learner = loop.learner
    batch = learner.replay.gather(np.arange(10))
    alone = learner.targets(batch._replace(discounts=torch.zeros(10)))
    torch.testing.assert_close(alone, 2.0 * batch.returns * learner._spread.factor)
    assert float(learner._spread.factor) != 1


@pytest.mark.parametrize(
    ("name", "value"),
    [("late_n_step", 2), ("late_discount", 0.9), ("late_discount", 0.0), ("reset_heads", True)],
)
def test_what_comes_at_half_of_a_run_needs_to_know_how_long_it_is(name, value):
    with pytest.raises(ConfigError, match=f"{name}={value} is for the second half of a run and needs"):
        QLearning(small_dnn_network(3), QConfig(**{name: value}), actions=3, streams=RandomStreams(0))


@pytest.mark.parametrize(("name", "value"), [("late_n_step", 0), ("late_discount", 1.5)])
def test_a_bad_value_names_its_field(name, value):
    with pytest.raises(ConfigError, match=f"^{name} must be"):
        QConfig(**{name: value})
