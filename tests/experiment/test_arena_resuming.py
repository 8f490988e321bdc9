"""An arena goes on where it was cut, and tells where games do not repeat themselves."""

import json
import os
import signal
import warnings

import pytest

from neuroplastic.errors import ConfigError
from neuroplastic.experiment.arena import (
    Arena,
    ArenaError,
    Episode,
    ReplayedEpisodeWarning,
    WorkerReplacedWarning,
)
from tests.experiment.arena_games import GAMES, TASKS, played, seen_in
from tests.experiment.unruly import UnrulyTask


@pytest.mark.parametrize("steps", [0, 1, 9])
@pytest.mark.parametrize("workers_first", [False, True])
def test_resumed_arena_goes_on_bit_for_bit(steps, workers_first, undisturbed, two_workers):
    with Arena(TASKS[0], games=GAMES, seed=3, processes=0) as own:
        first, second = (two_workers, own) if workers_first else (own, two_workers)
        first.begin()
        before = played(first, 0, steps)
        state = json.loads(json.dumps(first.state_dict()))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert second.load_state_dict(state) == []
        assert (second.observations == first.observations).all()
        assert second.state_dict() == state
        assert before + played(second, steps) == undisturbed


def test_state_before_the_beginning_is_one_too():
    with Arena(TASKS[1], games=2, processes=0) as first, Arena(TASKS[1], games=2, processes=0) as second:
        second.begin()
        assert second.load_state_dict(first.state_dict()) == []
        with pytest.raises(ArenaError, match="call begin"):
            second.step([0, 0])
        assert (second.begin() == first.begin()).all()


def test_state_of_another_number_of_games_is_refused():
    with Arena(TASKS[1], games=2, processes=0) as first, Arena(TASKS[1], games=3, processes=0) as second:
        first.begin()
        with pytest.raises(ConfigError, match="of 2 games, and this arena has 3"):
            second.load_state_dict(first.state_dict())


def test_games_that_do_not_repeat_are_told(tmp_path):
    with Arena(UnrulyTask(fault="drifts", notes=str(tmp_path)), games=4, processes=0) as arena:
        arena.begin()
        arena.step([0] * 4), arena.step([1] * 4)
        with pytest.warns(
            ReplayedEpisodeWarning, match="episode 0, played again over 2 actions, led to another"
        ):
            unrepeated = arena.load_state_dict(arena.state_dict())
        assert [(one.game, one.over) for one in unrepeated] == [(game, False) for game in range(4)]
        assert all((one.observation == arena.observations[one.game]).all() for one in unrepeated)
        assert arena.episodes_ended == ()


def test_episode_that_ends_early_when_played_again_makes_room_for_the_next(tmp_path):
    with Arena(UnrulyTask(fault="ends early", notes=str(tmp_path)), games=2, processes=0) as arena:
        arena.begin()
        arena.step([0, 0]), arena.step([1, 1])
        state = arena.state_dict()
        state["games"][1]["actions"] = []  # so this one repeats
        state["games"][1]["observation_sha256"] = "another"
        with pytest.warns(
            ReplayedEpisodeWarning, match="episode 0, played again over 2 actions, ended early"
        ):
            unrepeated = arena.load_state_dict(state)
        assert [(one.game, one.episode, one.over) for one in unrepeated] == [(0, 0, True), (1, 1, False)]
        assert arena.episodes_ended == (Episode(0, 0, 4, 2, state["games"][0]["reward"]),)
        assert [game["episode"] for game in arena.state_dict()["games"]] == [2, 1]
        assert (unrepeated[0].observation == arena.observations[0]).all()


def test_replaced_worker_whose_episodes_end_early_cuts_them_short(tmp_path):
    with Arena(UnrulyTask(fault="ends early", notes=str(tmp_path)), games=2, processes=1) as arena:
        arena.begin()
        arena.step([0, 0]), arena.step([1, 1])
        os.kill(arena.worker_pids[0], signal.SIGKILL)
        with pytest.warns(WorkerReplacedWarning), pytest.warns(ReplayedEpisodeWarning, match="ended early"):
            step = arena.step([0, 0])
        assert step.truncated.all()
        assert not step.terminated.any()
        assert not step.rewards.any()
        assert sorted(step.last) == [0, 1]
        assert [(one.episode, one.length) for one in arena.episodes_ended] == [(0, 3), (1, 3)]
        assert [game["episode"] for game in arena.state_dict()["games"]] == [2, 3]


def test_interrupted_step_can_be_taken_back(tmp_path):
    calm, wild = (UnrulyTask(fault=fault, notes=str(tmp_path)) for fault in ("", "is interrupted"))
    with Arena(calm, games=2, processes=0) as arena, Arena(wild, games=2, processes=0) as other:
        for one in (arena, other):
            one.begin()
            one.step([0, 0])
        with pytest.raises(KeyboardInterrupt):
            other.step([0, 1])
        assert other.load_state_dict(other.state_dict()) == []
        assert seen_in(other.step([0, 1]), other) == seen_in(arena.step([0, 1]), arena)


def test_interrupted_arena_can_begin_anew(tmp_path):
    with Arena(UnrulyTask(fault="is interrupted", notes=str(tmp_path)), games=2, processes=0) as arena:
        first = arena.begin()
        arena.step([0, 0])
        with pytest.raises(KeyboardInterrupt):
            arena.step([0, 1])
        assert (arena.begin() == first).all()
        arena.step([0, 1])
