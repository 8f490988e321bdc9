"""Learners on a GPU. Left out, and said so, where there is no CUDA device."""

import copy

import numpy as np
import pytest
import torch

from neuroplastic import catalog
from neuroplastic.learn import QConfig, QLearning, RandomStreams
from neuroplastic.learn.capturing import CaptureWarning
from neuroplastic.learn.experience import Setting
from tests.learn.agents import dnn_network, nfn_network, small_dnn_network, small_nfn_network
from tests.learn.corridor import ACTIONS, CELLS, MIRRORED, Corridor
from tests.learn.loop import Loop, equal_states
from tests.learn.test_contract import NETWORKS, config_of, greedy_score

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device on this machine")


@pytest.mark.parametrize("name", catalog.names("learner"))
@pytest.mark.parametrize("pictures", [False, True], ids=["vectors", "pictures"])
@pytest.mark.parametrize("network", NETWORKS)
def test_a_learner_on_a_gpu_learns_and_is_taken_up_again(name, pictures, network):
    def started(seed: int) -> Loop:
        setting = Setting(ACTIONS, RandomStreams(seed), 400, torch.device("cuda"), MIRRORED)
        net = NETWORKS[network](2 * CELLS if pictures else CELLS + 1)
        return Loop(lambda: Corridor(pictures=pictures), config_of(name, mirror=pictures).build(net, setting))

    loop = started(0)
    list(loop.run(17))
    assert loop.learner.sample_observations(3).is_cuda
    state = copy.deepcopy(loop.state_dict())
    losses = [one.loss for one in loop.run(30) if one.loss is not None]
    assert np.isfinite(losses).all()
    resumed = started(1)
    resumed.load_state_dict(state)
    again = [one.loss for one in resumed.run(30) if one.loss is not None]
    np.testing.assert_array_equal(again, losses)
    assert np.isfinite(greedy_score(resumed.learner, pictures))


def test_updates_made_while_games_are_played_are_those_made_at_once_and_are_taken_up_again():
    def started() -> Loop:
        setting = Setting(ACTIONS, RandomStreams(0), 400, torch.device("cuda"), MIRRORED)
        torch.manual_seed(0)
        config = config_of("parallel_q", mirror=True, overlap=True)
        return Loop(
            lambda: Corridor(pictures=True), config.build(NETWORKS["neuro_fuzzy"](2 * CELLS), setting)
        )

    def ran(loop: Loop, rounds: int, *, spread: bool) -> dict:
        for number in range(rounds):
            loop.round()
            if spread:
                loop.learner.meanwhile(4 - number % 4)
        return copy.deepcopy(loop.state_dict())

    at_once, spread = ran(started(), 30, spread=False), ran(started(), 30, spread=True)
    assert equal_states(at_once["learner"], spread["learner"])
    resumed = started()
    resumed.load_state_dict(ran(started(), 17, spread=True))
    assert equal_states(ran(resumed, 13, spread=False)["learner"], at_once["learner"])


def replaying(network, *, capture, **fields) -> QLearning:
    """A learner on the GPU with pictures in its memory, always the same."""
    config = QConfig(batch_size=16, memory_size=100, n_step=2, mirror=True, capture=capture, **fields)
    learner = QLearning(
        copy.deepcopy(network),
        config,
        actions=4,
        streams=RandomStreams(0),
        device="cuda",
        mirrored_actions=(1, 0, 2, 3),
        total_steps=200,
    )
    generator = np.random.default_rng(0)
    frames = generator.integers(0, 256, (91, 84, 84, 3), dtype=np.uint8)
    learner.replay.begin(frames[0])
    for step, frame in enumerate(frames[1:]):
        learner.replay.append(step % 4, float(generator.normal()), frame, advice=step % 5 - 1)
    return learner


@pytest.mark.parametrize(
    ("network", "taught"),
    [(dnn_network, 0.0), (small_nfn_network, 0.0), (nfn_network, 0.0), (small_nfn_network, 1.0)],
)
def test_a_hundred_captured_updates_are_a_hundred_plain_ones_to_the_last_bit(network, taught):
    torch.manual_seed(0)
    made = network(4)
    losses, states = [], []
    for capture in (True, False):
        learner = replaying(made, capture=capture, target_every=30, learning_rate=1e-3, taught=taught)
        losses.append(torch.stack([learner.step() for _ in range(100)]).tolist())
        states.append(learner.network.state_dict())
        assert learner._update.captured == capture
    assert losses[0] == losses[1]
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])


@pytest.mark.parametrize("network", [small_dnn_network, small_nfn_network])
def test_captured_updates_go_on_as_plain_ones_do_in_the_second_half_of_a_run(network):
    torch.manual_seed(0)
    made = network(4)
    late = {"late_n_step": 1, "late_discount": 0.5, "reset_heads": True, "late_batch": 12}
    losses = []
    for capture in (True, False):
        learner = replaying(made, capture=capture, normalise_rewards=True, **late)
        found = [learner.step() for _ in range(20)]
        assert not learner._half.begun
        frame = np.zeros((84, 84, 3), np.uint8)
        for step in range(20):  # more than half of the 200 in all
            learner.replay.append(step % 4, float(step), frame)
            learner._spread.see(float(step), ended=False)
        found += [learner.step() for _ in range(20)]
        assert (learner._half.begun, learner._update.captured) == (True, capture)
        losses.append(torch.stack(found).tolist())
    assert losses[0] == losses[1]


def test_an_update_that_cannot_be_captured_is_computed_plainly_and_that_is_said_once(monkeypatch):
    torch.manual_seed(0)
    made = small_dnn_network(4)
    plain = replaying(made, capture=False)
    expected = [float(plain.step()) for _ in range(8)]
    learner = replaying(made, capture=True)
    begin = learner._begin_targets
    monkeypatch.setattr(learner, "_begin_targets", lambda batch: _asked(begin(batch)()))
    with pytest.warns(CaptureWarning, match="the update is not captured") as said:
        found = [float(learner.step()) for _ in range(8)]
    assert len(said) == 1
    assert not learner._update.captured
    assert found == expected


def _asked(targets):
    float(targets.sum())  # a question to the host
    return lambda: targets


@pytest.mark.parametrize("pinned", [True, False], ids=["read where it lies", "copied first"])
def test_games_in_turns_on_a_gpu_are_learned_from_as_if_played_together(pinned, monkeypatch):
    from neuroplastic.experiment.arena import Arena
    from neuroplastic.experiment.trainer import Trainer
    from neuroplastic.learn import ParallelQConfig, exchanging
    from tests.small_game import CorridorTask

    if not pinned:
        monkeypatch.setattr(exchanging, "_pin", lambda held: False)

    def losses(*, in_turns: bool, overlap: bool) -> list[float]:
        task = CorridorTask()
        setting = Setting(len(task.actions), RandomStreams(0), 600, torch.device("cuda"))
        torch.manual_seed(0)
        config = ParallelQConfig(training_games=6, rollout=5, batch_size=10, overlap=overlap)
        learner = config.build(NETWORKS["plain"](task.observation.shape[0]), setting)
        with Arena(task, games=6, processes=2) as arena:
            trainer, found = Trainer(arena, learner), []
            while trainer.steps < 6 * 60:
                report = trainer.step(rounds=60 if in_turns else 1)
                found += [] if report.loss is None else [report.loss]
            assert (exchanging.Pinned.of(arena.shown_in).copied != pinned) or not in_turns
        learner.state_dict()
        return [loss.item() for loss in found]

    for overlap in (False, True):
        together, turns = (losses(in_turns=one, overlap=overlap) for one in (False, True))
        assert len(together) == 12
        np.testing.assert_allclose(turns, together, rtol=1e-4)
