"""Workers that die, are killed or cannot begin are replaced or told; none outlives its arena or its program."""

import gc
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from types import ModuleType

import psutil
import pytest

from neuroplastic.errors import ConfigError
from neuroplastic.experiment.arena import Arena, ArenaError, WorkerLostError, WorkerReplacedWarning
from tests.experiment.arena_games import GAMES, TASKS, alive, played, wait_until_gone
from tests.experiment.unruly import UnrulyTask
from tests.small_game import CatchTask


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
