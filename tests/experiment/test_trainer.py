"""The loop of games and learner: steps and episodes are counted, and a reloaded one goes on bit for bit."""

import os
import signal
import warnings
from contextlib import closing

import numpy as np
import pytest
import torch

from neuroplastic.experiment.arena import Arena, ReplayedEpisodeWarning, WorkerReplacedWarning
from neuroplastic.experiment.earlier import upgraded_training
from neuroplastic.experiment.trainer import Trainer
from neuroplastic.learn.dqn.config import QConfig
from neuroplastic.learn.experience import Setting
from neuroplastic.learn.parallel_q.config import ParallelQConfig
from neuroplastic.learn.parallel_q.learner import ParallelQLearning
from neuroplastic.learn.seeding import RandomStreams
from neuroplastic.network.dueling import DuelingNetwork, dnn_head
from tests.small_game import CorridorTask

CONFIGS = {
    "dqn": QConfig(batch_size=4, memory_size=50, n_step=2),
    "parallel_q": ParallelQConfig(training_games=3, rollout=4, batch_size=6),
    "overlap": ParallelQConfig(training_games=3, rollout=4, batch_size=6, overlap=True),
}


def trainer(config, seed: int = 0, task=None) -> Trainer:
    task = task or CorridorTask()
    streams = RandomStreams(seed)
    network = DuelingNetwork(
        torch.nn.Identity(), dnn_head(3, 1, 8, "ReLU", norm=True), dnn_head(3, 2, 8, "ReLU", norm=True)
    )
    learner = config.build(network, Setting(len(task.actions), streams, total_steps=200))
    return Trainer(Arena(task, games=learner.games, seed=seed, processes=0), learner)


def run(trainer: Trainer, steps: int) -> list:
    reports = [trainer.step() for _ in range(steps)]
    return [(r.step, None if r.loss is None else r.loss.item(), r.finished) for r in reports]


@pytest.mark.parametrize("name", CONFIGS)
def test_decisions_are_counted_over_all_games_and_ended_episodes_reported(name):
    loop = trainer(CONFIGS[name])
    games = loop.learner.games
    reports = run(loop, 30)
    assert [step for step, _, _ in reports] == [games * (k + 1) for k in range(30)]
    assert loop.episodes == [episode for _, _, finished in reports for episode in finished]
    assert sum(episode.length for episode in loop.episodes) <= 30 * games
    numbers = [episode.episode for episode in loop.episodes]
    assert len(set(numbers)) == len(numbers)


def test_the_replay_learner_updates_after_each_step_and_explores_less_with_each():
    loop = trainer(QConfig(batch_size=4, memory_size=50, updates_per_step=3))
    reports = run(loop, 6)
    assert [loss is None for _, loss, _ in reports] == [True, True, True, False, False, False]
    assert loop.learner.updates == 9
    assert loop.learner.figures()["exploration"] == pytest.approx(0.9999**6, rel=1e-12)


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("steps", [0, 1, 7, 12])
def test_a_reloaded_trainer_goes_on_bit_for_bit(name, steps):
    first, second = trainer(CONFIGS[name]), trainer(CONFIGS[name])
    run(first, steps)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        second.load_state_dict(first.state_dict())
    saved = first.learner.state_dict()["random"]
    expected = run(first, 20)
    second.learner.load_state_dict({**second.learner.state_dict(), "random": saved})
    assert run(second, 20) == expected
    assert second.episodes == first.episodes
    for mine, theirs in zip(
        second.learner.network.parameters(), first.learner.network.parameters(), strict=True
    ):
        assert torch.equal(mine, theirs)


class Drifting(CorridorTask):
    """A corridor that is lit differently every time somebody enters it."""

    def environment(self, **settings):
        game = super().environment(**settings)
        start = game.start

        def drifting(generator):
            start(generator)
            Drifting.entered += 1
            game._light = float(Drifting.entered)

        game.start = drifting
        return game


Drifting.entered = 0


def test_an_environment_that_does_not_repeat_itself_is_reported_and_training_goes_on():
    first, second = (trainer(CONFIGS["dqn"], task=Drifting()) for _ in range(2))
    while not first.arena.state_dict().get("games") or not first.arena.state_dict()["games"][0]["actions"]:
        run(first, 1)
    with pytest.warns(ReplayedEpisodeWarning, match="led to another"):
        second.load_state_dict(first.state_dict())
    run(second, 5)
    assert second.steps == first.steps + 5


def test_training_that_an_earlier_version_saved_between_episodes_goes_on_with_the_next():
    loop = trainer(CONFIGS["dqn"])
    while not loop.episodes:
        run(loop, 1)
    now = loop.state_dict()
    learner = dict(now["learner"])
    replay = dict(learner["replay"])
    replay["open_steps"] = None  # the episode was over, and the next not yet begun
    del replay["advice"], learner["advice"]  # there was none
    for name in ("frames", "actions", "rewards", "ends"):
        replay[name] = replay[name][: loop.steps]
    old = {
        "steps": loop.steps,
        "episode": 1,
        "episodes": [{k: v for k, v in episode.items() if k != "game"} for episode in now["episodes"]],
        "actions": [],
        "reward": 0.0,
        "frame_sha256": None,
        "learner": {**learner, "replay": replay},
    }
    assert upgraded_training(upgraded_training(old)) == upgraded_training(old)
    other = trainer(CONFIGS["dqn"])
    with closing(other.arena), warnings.catch_warnings():
        warnings.simplefilter("error")
        other.load_state_dict(old)
        run(other, 5)
    assert other.steps == loop.steps + 5
    assert np.isfinite(other.learner.figures()["exploration"])


@pytest.mark.parametrize(
    ("killed", "overlap"),
    [(False, False), (True, False), (False, True)],
    ids=["", "a worker is killed", "learning meanwhile"],
)
def test_games_in_turns_are_learned_from_as_if_played_together(killed, overlap):
    config = ParallelQConfig(training_games=6, rollout=5, batch_size=10, exploration_hold=2, overlap=overlap)

    def made() -> Trainer:
        task, streams = CorridorTask(), RandomStreams(0)
        heads = (dnn_head(3, outputs, 8, "ReLU", norm=True) for outputs in (1, 2))
        network = DuelingNetwork(torch.nn.Identity(), *heads)
        setting = Setting(len(task.actions), streams, total_steps=600)
        learner = ParallelQLearning(network, config, setting, resident=True)
        return Trainer(Arena(task, games=6, seed=0, processes=2), learner)

    with closing((together := made()).arena):
        one_by_one = [together.step() for _ in range(23)]
    with closing((in_turns := made()).arena), warnings.catch_warnings():
        warnings.simplefilter("ignore", WorkerReplacedWarning)
        reports, sent = [], []
        send = in_turns.arena.send

        def send_and_kill(group, actions) -> None:  # both groups are under way then
            send(group, actions)
            sent.append(group)
            if killed and len(sent) in (14, 15):
                os.kill(in_turns.arena.worker_pids[0], signal.SIGKILL)

        in_turns.arena.send = send_and_kill
        while in_turns.steps < 6 * 23:
            reports.append(in_turns.step(rounds=23 - in_turns.steps // 6))
    assert [report.step for report in reports] == [30, 60, 90, 120, 138]
    assert in_turns.episodes == together.episodes
    assert in_turns.arena.state_dict() == together.arena.state_dict()
    for loop in (together, in_turns):
        assert isinstance(loop.learner.actor, DuelingNetwork)  # which has learned from all then
    losses = [report.loss.item() for report in one_by_one if report.loss is not None]
    assert [report.loss.item() for report in reports[:4]] == pytest.approx(losses, rel=1e-4)
