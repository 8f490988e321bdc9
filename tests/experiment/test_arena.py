"""What games of an arena show depends on task, seed and actions alone: not on processes, deaths or resumes."""

import gc
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import psutil
import pytest

from neuroplastic.errors import ConfigError
from neuroplastic.experiment.arena import (
    Arena,
    ArenaError,
    Episode,
    ReplayedEpisodeWarning,
    WorkerLostError,
    WorkerReplacedWarning,
    default_processes,
)
from neuroplastic.experiment.game import GameError, PolicyError
from neuroplastic.learn.experience import Step
from tests.experiment.unruly import UnrulyTask
from tests.small_game import CatchTask, CorridorTask

TASKS = (CatchTask(cells=5), CorridorTask())
GAMES = 5
ACTIONS = np.random.default_rng(0).integers(2, size=(40, GAMES))


def seen_in(step: Step, arena: Arena) -> tuple[object, ...]:
    """All of a step, to compare bit by bit."""
    last = {game: observation.tobytes() for game, observation in step.last.items()}
    arrays = (step.rewards, step.terminated, step.truncated, step.observations)
    return (*(array.tobytes() for array in arrays), last, arena.episodes_ended, arena.steps)


def played(arena: Arena, first: int = 0, until: int = 40) -> list[tuple[object, ...]]:
    return [seen_in(arena.step(actions), arena) for actions in ACTIONS[first:until]]


def alive(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def wait_until_gone(pids: tuple[int, ...]) -> None:
    deadline = time.monotonic() + 10
    while left := [pid for pid in pids if alive(pid)]:
        assert time.monotonic() < deadline, f"after 10 seconds there are still {left}"
        time.sleep(0.01)


@pytest.fixture(scope="module")
def undisturbed() -> list[tuple[object, ...]]:
    """What 40 steps of Catch show in this process."""
    with Arena(TASKS[0], games=GAMES, seed=3, processes=0) as arena:
        arena.begin()
        return played(arena)


@pytest.fixture(scope="module")
def two_workers() -> Iterator[Arena]:
    """The same arena with two workers; `begin` starts it over."""
    with Arena(TASKS[0], games=GAMES, seed=3, processes=2) as arena:
        yield arena


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


@pytest.mark.parametrize("when", [0, 1, 7])
def test_killed_worker_is_replaced_and_nothing_else_changes(when, undisturbed, two_workers):
    two_workers.begin()
    before = played(two_workers, 0, when)
    victim = two_workers.worker_pids[1]
    os.kill(victim, signal.SIGKILL)
    message = rf"worker process {victim} was killed by SIGKILL; what it played \(games 1, 3\) is played again"
    with pytest.warns(WorkerReplacedWarning, match=message):
        after = played(two_workers, when, 20)
    assert before + after == undisturbed[:20]
    assert not alive(victim)


def test_all_processes_killed_at_once_are_replaced(undisturbed, two_workers):
    two_workers.begin()
    before = played(two_workers, 0, 5)
    old = two_workers.worker_pids
    (server,) = {psutil.Process(pid).ppid() for pid in old}
    os.kill(server, signal.SIGKILL)
    wait_until_gone(old)
    with pytest.warns(WorkerReplacedWarning):
        after = played(two_workers, 5, 20)
    assert before + after == undisturbed[:20]
    assert len({*two_workers.worker_pids, *old}) == 4


def test_ctrl_c_does_not_reach_workers(undisturbed, two_workers):
    two_workers.begin()
    before = played(two_workers, 0, 5)
    for pid in two_workers.worker_pids:
        assert os.getpgid(pid) != os.getpgid(0)
        os.kill(pid, signal.SIGINT)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert before + played(two_workers, 5, 20) == undisturbed[:20]


def test_worker_that_always_dies_is_an_error_in_the_end(tmp_path):
    with (
        pytest.warns(WorkerReplacedWarning),
        Arena(UnrulyTask(fault="kills itself"), games=2, processes=1) as arena,
        pytest.raises(WorkerLostError, match="was killed by SIGKILL, and so it went 4 times without a step"),
    ):
        arena.begin()


def test_games_lost_in_the_middle_of_a_step_are_played_again(tmp_path):
    """In a worker an engine is lost, then the worker itself, each with some of its games further than others."""
    calm, wild = (UnrulyTask(fault=fault, notes=str(tmp_path)) for fault in ("", "is lost"))
    with Arena(calm, games=GAMES, processes=0) as arena, Arena(wild, games=GAMES, processes=1) as other:
        arena.begin(), other.begin()
        expected = played(arena)
        with pytest.warns(WorkerReplacedWarning) as caught:
            assert played(other) == expected
        told = [str(warning.message) for warning in caught]
        assert len(told) == 2
        assert "lost a game (the engine crashed); what it played (games 0 to 4) is played" in told[0]
        assert "was killed by SIGKILL" in told[1]


def test_game_lost_in_this_process_is_played_again(tmp_path):
    (tmp_path / "killed").write_text("x")  # not here
    calm, wild = (UnrulyTask(fault=fault, notes=str(tmp_path)) for fault in ("", "is lost"))
    with Arena(calm, games=GAMES, processes=0) as arena, Arena(wild, games=GAMES, processes=0) as other:
        arena.begin(), other.begin()
        with pytest.warns(WorkerReplacedWarning, match=r"a game was lost \(the engine crashed\)"):
            assert played(other) == played(arena)


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


@pytest.mark.parametrize("actions", [[0], [0, 2], [0, -1], [0.0, 1.0], 0])
def test_actions_that_are_none_are_refused_and_the_game_goes_on(actions):
    with Arena(TASKS[1], games=2, processes=0) as arena:
        arena.begin()
        with pytest.raises(PolicyError, match=r"one whole number per|at least 0 and below 2"):
            arena.step(actions)
        arena.step([0, 1])


def test_closed_arena_says_so_and_its_workers_are_gone(two_workers):
    arena = Arena(TASKS[0], games=2, processes=2)
    arena.begin()
    workers = arena.worker_pids
    server = psutil.Process(workers[0]).ppid()
    arena.close()
    arena.close()
    assert not any(psutil.pid_exists(pid) for pid in (*workers, server))  # nor as zombies
    with pytest.raises(ArenaError, match="is closed"):
        arena.step([0, 0])


def test_collected_arena_ends_its_workers():
    arena = Arena(TASKS[0], games=2, processes=2)
    arena.begin()
    workers = arena.worker_pids
    del arena
    gc.collect()
    assert not any(psutil.pid_exists(pid) for pid in workers)


OWNER = """
import json, sys
import psutil
from neuroplastic.experiment.arena import Arena
from tests.small_game import CatchTask

arena = Arena(CatchTask(), games=4, processes=2)
arena.begin()
pids = [child.pid for child in psutil.Process().children(recursive=True)]
print(json.dumps(pids), flush=True)
while True:
    arena.step([0, 1, 2, 1])
"""


def named_shared_memory(pid: int) -> set[str]:
    """Files of shared memory that a process holds and that somebody could find by a name."""
    maps = Path(f"/proc/{pid}/maps").read_text().splitlines()
    files = [line.split(maxsplit=5)[5] for line in maps if len(line.split(maxsplit=5)) == 6]
    assert any("neuroplastic-arena" in file for file in files)
    return {file for file in files if file.startswith("/dev/shm/")}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows what memory a process holds")
def test_killed_program_leaves_neither_process_nor_shared_memory():
    program = subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True)
    assert program.stdout is not None
    pids = json.loads(program.stdout.readline())
    assert len(pids) == 3
    assert [named_shared_memory(pid) for pid in (program.pid, *pids)] == [set()] * 4  # so none is left
    program.kill()
    program.wait()
    wait_until_gone(tuple(pids))
    program.stdout.close()


def _play_in_a_daemon(queue) -> None:
    with Arena(TASKS[0], games=GAMES, seed=3, processes=2) as arena:
        arena.begin()
        queue.put((len(arena.worker_pids), played(arena, 0, 10)))


def test_workers_of_a_study_which_are_daemons_can_have_an_arena(undisturbed):
    forked = multiprocessing.get_context("fork")
    queue = forked.SimpleQueue()
    daemon = forked.Process(target=_play_in_a_daemon, args=(queue,), daemon=True)
    daemon.start()
    assert queue.get() == (2, undisturbed[:10])
    daemon.join()


def test_task_that_workers_cannot_import_is_refused_in_words(monkeypatch):
    class Here(CatchTask):
        pass

    Here.__qualname__ = "Here"
    module = ModuleType("nowhere_else")
    module.Here = Here  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "nowhere_else", module)
    monkeypatch.setattr(Here, "__module__", "nowhere_else")
    with Arena(Here(), games=2, processes=1) as arena:
        with pytest.raises(
            ConfigError, match=r"No module named 'nowhere_else'.*define it in a module that can be"
        ):
            arena.begin()
        assert arena.worker_pids == ()


def test_task_that_cannot_be_sent_is_refused_in_words():
    class Local(CatchTask):
        pass

    with pytest.raises(ConfigError, match="must be picklable, and catch is not"):
        Arena(Local(), games=1, processes=1)


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
