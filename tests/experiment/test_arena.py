"""What games of an arena show depends on task, seed and actions alone: not on processes, deaths or resumes."""

import os

import numpy as np
import pytest

from neuroplastic.errors import ConfigError
from neuroplastic.experiment.arena import Arena, ArenaError, Episode, default_processes
from neuroplastic.experiment.game import GameError, PolicyError
from tests.experiment.arena_games import ACTIONS, GAMES, TASKS, played
from tests.experiment.unruly import UnrulyTask
from tests.small_game import CatchTask, CorridorTask


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.key)
def test_games_are_those_of_environments_played_one_by_one(task):
    arena = Arena(task, games=GAMES, seed=3, processes=0)
    shown = [arena.begin()]
    steps, ended = [], []
    for actions in ACTIONS:
        steps.append(arena.step(actions))
        shown.append(steps[-1].observations)
        ended += arena.episodes_ended
    assert all(step.rewards.dtype == np.float32 for step in steps)
    for game in range(GAMES):
        environment, episode = task.environment(seed=3), game
        observation, _ = environment.reset(options={"episode": episode})
        length, total = 0, 0.0
        for number, step in enumerate(steps):
            assert (shown[number][game] == observation).all()
            observation, reward, terminated, truncated, _ = environment.step(ACTIONS[number, game])
            length, total = length + 1, total + reward
            flags = (step.terminated[game], step.truncated[game])
            assert (step.rewards[game], *flags) == (np.float32(reward), terminated, truncated)
            assert (game in step.last) == (terminated or truncated) == step.ended[game]
            if terminated or truncated:
                assert (step.last[game] == observation).all()
                assert Episode(episode, game, (number + 1) * GAMES, length, total) in ended
                episode, length, total = episode + GAMES, 0, 0.0
                observation, _ = environment.reset(options={"episode": episode})
    assert len(ended) == sum(len(step.last) for step in steps) > 2 * GAMES


def test_both_ways_to_end_occur():
    with Arena(TASKS[1], games=GAMES, processes=0) as arena:
        arena.begin()
        steps = [arena.step(actions) for actions in ACTIONS]
    assert any(step.terminated.any() for step in steps)
    assert any(step.truncated.any() for step in steps)


def test_what_is_given_may_be_kept_and_changed(undisturbed):
    with Arena(TASKS[0], games=GAMES, seed=3, processes=0) as arena:
        arena.begin()[:] = 1
        arena.observations[:] = 2
        first = arena.step(ACTIONS[0])
        kept = first.observations.copy()
        second = arena.step(ACTIONS[1])
        assert (first.observations == kept).all()
        second.observations[:] = 3
        assert played(arena, 2, 5) == undisturbed[2:5]


def test_workers_play_what_this_process_plays(undisturbed, two_workers):
    assert len(set(two_workers.worker_pids)) in (0, 2)
    two_workers.begin()
    assert len(set(two_workers.worker_pids)) == 2
    assert played(two_workers) == undisturbed


@pytest.mark.parametrize("processes", [0, 1])
def test_errors_of_environments_are_named(processes, tmp_path):
    cases = {
        0: (ConfigError, "option must be 1, got 2"),
        1: (GameError, "episode 1 of unruly, after 1 steps: .* ZeroDivisionError: no floor here"),
    }
    with Arena(UnrulyTask(fault="fails", notes=str(tmp_path)), games=2, processes=processes) as arena:
        arena.begin()
        arena.step([0, 0])
        for action, (kind, message) in cases.items():
            with pytest.raises(kind, match=message) as caught:
                arena.step([0, action])
            assert processes == 0 or "in a worker process:\nTraceback" in str(caught.value.__cause__)
            with pytest.raises(ArenaError, match="interrupted in the middle"):
                arena.step([0, action])
            assert arena.load_state_dict(arena.state_dict()) == []


def test_observation_of_another_shape_than_the_task_says_is_refused(tmp_path):
    with Arena(UnrulyTask(fault="is misshapen", notes=str(tmp_path)), games=2, processes=0) as arena:
        arena.begin()
        arena.step([0, 0])
        with pytest.raises(GameError, match=r"must be float32 of shape \(3,\), got float32 of shape \(2,\)"):
            arena.step([0, 0])


@pytest.mark.parametrize("actions", [[0], [0, 2], [0, -1], [0.0, 1.0], 0])
def test_actions_that_are_none_are_refused_and_the_game_goes_on(actions):
    with Arena(TASKS[1], games=2, processes=0) as arena:
        arena.begin()
        with pytest.raises(PolicyError, match=r"one whole number per|at least 0 and below 2"):
            arena.step(actions)
        arena.step([0, 1])


def test_processes_are_for_pictures_and_no_more_than_games_or_cores(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(4)), raising=False)
    pictures, vectors = TASKS
    assert [default_processes(pictures, games) for games in (1, 2, 4, 9)] == [0, 2, 4, 4]
    assert default_processes(vectors, 64) == 0
    monkeypatch.setattr(CatchTask, "__module__", "__main__")  # which workers do not run
    assert default_processes(pictures, 4) == 0
    monkeypatch.undo()
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
    assert default_processes(pictures, 8) == 0
    assert Arena(vectors, games=2).processes == 0
    assert Arena(pictures, games=2, processes=7).processes == 2


@pytest.mark.parametrize("options", [{"games": 0}, {"games": 1, "processes": -1}, {"games": 1, "seed": -1}])
def test_nonsense_is_refused(options):
    with pytest.raises(ConfigError, match="must be a whole number of at least"):
        Arena(TASKS[0], **options)


def test_episodes_that_begin_ahead_in_spare_environments_are_the_same():
    played = []
    for spares in (False, True):
        with Arena(CorridorTask(), games=4, seed=1, processes=2, spares=spares) as arena:
            shown = [arena.begin().tolist()]
            generator = np.random.default_rng(0)
            for _ in range(40):
                step = arena.step(generator.integers(2, size=4))
                shown.append([step.observations.tolist(), step.rewards.tolist(), arena.episodes_ended])
            state = arena.state_dict()
            assert arena.load_state_dict(state) == []
            played.append((shown, state, arena.observations.tolist()))
    assert played[0] == played[1]
    assert any(shown[2] for shown in played[0][0][1:])
