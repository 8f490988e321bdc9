import warnings

import numpy as np
import pytest
import torch

from neuroplastic.experiment.trainer import ReplayedEpisodeWarning, Trainer
from neuroplastic.learn import QConfig
from tests.learn.agents import dnn_network, make_learner
from tests.learn.catch import Catch

CONFIG = QConfig(batch_size=4, memory_size=50, n_step=2)


class Timed:
    """Episodes of three steps that are cut by time; the frame counts steps; `drift` makes them unrepeatable."""

    def __init__(self, drift: int = 0, lengths: tuple[int, ...] = (3,)) -> None:
        self.resets: list[object] = []
        self.drift, self.lengths = drift, lengths
        self.time = 0

    def _frame(self) -> np.ndarray:
        return np.full((84, 84, 3), self.time + self.drift * len(self.resets), np.uint8)

    def reset(self, *, seed=None, options=None):
        self.resets.append(options)
        self.time = 0
        return self._frame(), {}

    def step(self, action):
        self.time += 1
        length = self.lengths[min(len(self.resets), len(self.lengths)) - 1]
        return self._frame(), 1.0, False, self.time == length, {}


def trainer_on(environment, config: QConfig = CONFIG, seed: int = 0) -> Trainer:
    return Trainer(environment, make_learner(dnn_network, config, seed))


def test_episodes_are_numbered_counted_and_summed():
    environment = Timed()
    trainer = trainer_on(environment)
    reports = list(trainer.run(7))
    assert [report.step for report in reports] == [1, 2, 3, 4, 5, 6, 7]
    assert [report.episode for report in reports] == [0, 0, 0, 1, 1, 1, 2]
    assert environment.resets == [{"episode": 0}, {"episode": 1}, {"episode": 2}]
    finished = [report.finished for report in reports if report.finished]
    assert [(e.episode, e.last_step, e.length, e.total_reward) for e in finished] == [
        (0, 3, 3, 3.0),
        (1, 6, 3, 3.0),
    ]
    assert trainer.episodes == finished


def test_episodes_are_numbered_from_the_first_one_asked_for():
    environment = Timed()
    list(Trainer(environment, make_learner(dnn_network, CONFIG, 0), first_episode=7).run(4))
    assert environment.resets == [{"episode": 7}, {"episode": 8}]


def test_a_time_out_is_terminal():
    trainer = trainer_on(Timed())
    list(trainer.run(6))
    batch = trainer.learner.replay.gather(np.arange(6))
    assert batch.discounts.tolist() == pytest.approx([0.99**2, 0, 0, 0.99**2, 0, 0])


def test_exploration_falls_with_every_step_and_updates_follow_each_step():
    trainer = trainer_on(Timed(), QConfig(batch_size=4, memory_size=50, updates_per_step=3))
    reports = list(trainer.run(6))
    assert trainer.learner.exploration.rate == pytest.approx(0.9999**6, rel=1e-12)
    assert [report.loss is None for report in reports] == [True, True, True, False, False, False]
    assert trainer.learner.updates == 9


@pytest.mark.parametrize("steps", [0, 1, 3, 11])
def test_a_reloaded_trainer_goes_on_bit_for_bit(steps):
    first = trainer_on(Catch(cells=6))
    list(first.run(steps))
    second = trainer_on(Catch(cells=6), seed=5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        second.load_state_dict(first.state_dict())
    saved_random = first.learner.streams.state_dict()
    expected = [(r.action, r.reward, r.loss) for r in first.run(20)]
    first_state = first.state_dict()
    second.learner.streams.load_state_dict(saved_random)  # PyTorch's generator is shared in this process
    assert [(r.action, r.reward, r.loss) for r in second.run(20)] == expected
    second_state = second.state_dict()
    assert second_state["episodes"] == first_state["episodes"]
    assert second_state["frame_sha256"] == first_state["frame_sha256"]
    for name, tensor in first_state["learner"]["network"].items():
        assert torch.equal(second_state["learner"]["network"][name], tensor), name


def test_an_environment_that_does_not_repeat_itself_is_reported_and_training_goes_on():
    first = trainer_on(Timed())
    list(first.run(5))
    second = trainer_on(Timed(drift=10))
    with pytest.warns(
        ReplayedEpisodeWarning, match="episode 1, played again over 2 actions, led to another picture"
    ):
        second.load_state_dict(first.state_dict())
    list(second.run(3))
    assert [episode.length for episode in second.episodes] == [3, 3]


def test_an_episode_that_ends_early_when_played_again_is_closed():
    first = trainer_on(Timed())
    list(first.run(5))
    second = trainer_on(Timed(lengths=(1, 3)))
    with pytest.warns(ReplayedEpisodeWarning, match="ended early"):
        second.load_state_dict(first.state_dict())
    list(second.run(3))
    assert second.learner.replay.gather(np.array([4])).discounts.tolist() == [0.0]
    assert [episode.episode for episode in second.episodes] == [0, 1, 2]
