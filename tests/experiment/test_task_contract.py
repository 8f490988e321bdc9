"""What is asked of every task. To have another one tested, add it to TASKS."""

import dataclasses
import pickle

import numpy as np
import pytest

from neuroplastic import catalog
from neuroplastic.doom.task import DoomTask
from neuroplastic.errors import NeuroplasticError
from neuroplastic.experiment.game import observation_dtype
from neuroplastic.experiment.protocols import Task
from neuroplastic.gym.task import GymTask
from tests.small_game import CatchTask, CorridorTask

TASKS: list[Task] = [
    CatchTask(),
    CatchTask(side=20, cells=5),
    CorridorTask(),
    DoomTask("BP", "fast", 12),
    GymTask("CartPole-v1"),
    GymTask("Acrobot-v1", frame_stack=3),
]
EPISODES = range(6)
LONGEST = 25  # decisions of an episode that are looked at

pytestmark = pytest.mark.parametrize("task", TASKS, ids=lambda task: task.key)


def played(environment, task: Task, episode: int) -> list[tuple[object, ...]]:
    """What the beginning of an episode shows under actions that depend on its number alone."""
    observation, _ = environment.reset(options={"episode": episode})
    shown: list[tuple[object, ...]] = [(np.asarray(observation).tobytes(),)]
    for action in np.random.default_rng(episode).integers(len(task.actions), size=LONGEST).tolist():
        observation, reward, terminated, truncated, _ = environment.step(action)
        shown.append((np.asarray(observation).tobytes(), float(reward), bool(terminated), bool(truncated)))
        if terminated or truncated:
            break
    return shown


def episodes_of(task: Task, **options) -> list[list[tuple[object, ...]]]:
    environment = task.environment(**options)
    try:
        return [played(environment, task, episode) for episode in EPISODES]
    finally:
        environment.close()


def test_it_says_what_it_is(task):
    assert task.key
    assert task.title
    assert len(task.actions) >= 2
    assert len(set(task.actions)) == len(task.actions)
    assert all(isinstance(action, str) and action for action in task.actions)


def test_it_is_a_frozen_dataclass_that_the_catalogue_knows_and_workers_can_be_sent(task):
    assert dataclasses.is_dataclass(task)
    assert catalog.kind("task", catalog.name_of("task", task)) is type(task)
    assert pickle.loads(pickle.dumps(task)) == task
    assert hash(task) == hash(dataclasses.replace(task))
    for field in dataclasses.fields(task):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(task, field.name, None)


def test_a_mirror_is_its_own_inverse(task):
    mirrored = task.mirrored_actions
    if mirrored is not None:
        assert len(mirrored) == len(task.actions)
        assert [mirrored[action] for action in mirrored] == list(range(len(task.actions)))


def test_scores_are_numbers(task):
    for who, score in task.scores.items():
        assert who
        assert np.isfinite(score.mean)
        assert score.sd is None or score.sd >= 0


def test_environment_shows_what_the_task_says(task):
    environment = task.environment()
    observation, info = environment.reset(options={"episode": 0})
    assert isinstance(info, dict)
    for action in range(len(task.actions)):
        seen = np.asarray(observation)
        assert seen.shape == task.observation.shape
        assert seen.dtype == observation_dtype(task.observation)
        if task.observation.low:
            assert (seen >= task.observation.low).all()
        if task.observation.high:
            assert (seen <= task.observation.high).all()
        observation, reward, terminated, truncated, info = environment.step(action)
        assert np.isfinite(float(reward))
        assert isinstance(info, dict)
        if terminated or truncated:
            observation, _ = environment.reset(options={"episode": action})
    environment.close()


def test_episodes_repeat_from_their_number_whatever_was_played_before(task):
    there, back = task.environment(seed=4), task.environment(seed=4)
    forward = [played(there, task, episode) for episode in EPISODES]
    backward = [played(back, task, episode) for episode in reversed(EPISODES)]
    assert forward == backward[::-1]
    back.reset(options={"episode": 0})
    back.step(0)  # broken off
    assert played(back, task, 0) == forward[0]
    there.close(), back.close()


def test_episodes_seeds_and_streams_differ(task):
    """Over several episodes: of two tiny games, single ones may be alike."""
    training = episodes_of(task, seed=4)
    assert any(episode != training[0] for episode in training)
    assert episodes_of(task, seed=5) != training
    assert episodes_of(task, seed=4, stream="evaluation") != training


def test_actions_out_of_range_are_refused(task):
    environment = task.environment()
    environment.reset(options={"episode": 0})
    for action in (-1, len(task.actions)):
        with pytest.raises(NeuroplasticError, match="action"):
            environment.step(action)
    environment.step(len(task.actions) - 1)
    environment.close()


def test_closing_twice_does_nothing(task):
    environment = task.environment()
    environment.reset(options={"episode": 0})
    environment.close()
    environment.close()


def test_film_shows_the_same_game(task):
    environment = task.environment(seed=4, film=True)
    assert environment.metadata["render_fps"] > 0
    plain = episodes_of(task, seed=4)
    for episode in EPISODES[:2]:
        assert played(environment, task, episode) == plain[episode]
        frames = environment.render()
        assert len(frames) >= len(plain[episode]) - 1
        assert {(frame.dtype.name, frame.ndim, frame.shape[2]) for frame in frames} == {("uint8", 3, 3)}
        assert len({frame.shape for frame in frames}) == 1
        assert environment.render() == []
    environment.reset(options={"episode": 0})
    assert len(environment.render()) >= 1  # the first frame is there before the first action
    environment.close()


def test_presets_are_configurations_of_this_task(task):
    for name in task.presets:
        for agent in catalog.names("head"):
            config = task.preset(name, agent)
            assert config.task.key == task.key
    if task.presets:
        with pytest.raises(NeuroplasticError, match="preset"):
            task.preset("no such preset", "dnn")
