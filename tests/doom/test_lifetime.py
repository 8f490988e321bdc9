"""No engine process and no shared-memory file outlives the program."""

import gc
import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from neuroplastic import doom
from neuroplastic.doom import keeper, lifeline

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the lifeline is Linux's")

forked = multiprocessing.get_context("fork")


def alive(process: psutil.Process) -> bool:
    """Whether `process` still runs; one that ended but was not yet collected by its parent does not."""
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


def left_behind(folder: Path, since: float) -> list[str]:
    """Processes that run in or were told of `folder`, what is in it, and unclaimed shared memory."""
    left = [str(file) for file in folder.iterdir()]
    for process in psutil.process_iter():
        try:
            if (
                process.status() != psutil.STATUS_ZOMBIE
                and str(folder) in f"{process.cwd()} {process.cmdline()}"
            ):
                left.append(str(process))
        except psutil.Error:
            pass
    return left + [str(file) for file in keeper._unclaimed(since)]


def wait_until_nothing_is_left(folder: Path, since: float) -> None:
    deadline = time.monotonic() + 5
    while left := left_behind(folder, since):
        assert time.monotonic() < deadline, f"after 5 seconds there is still {left}"
        time.sleep(0.05)


def own_temporary_folder(folder: Path) -> None:
    """In a forked child: engines keep their files in `folder`, so that the test can tell them from others'."""
    import tempfile

    tempfile.tempdir = str(folder)


OWNER_OF_TWO = """
import sys
from pathlib import Path
from tests.doom.test_lifetime import play_two_games
play_two_games(Path(sys.argv[1]), lambda: print("ready", flush=True))
"""


def play_two_games(folder: Path, ready: Callable[[], None]) -> None:
    own_temporary_folder(folder)
    envs = [doom.make(key, picture="fast") for key in ("BP", "TC")]
    for env in envs:
        env.reset()
    ready()
    while True:
        for env in envs:
            if any(env.step(0)[2:4]):
                env.reset()


def test_program_killed_leaves_nothing(tmp_path: Path) -> None:
    since = time.time()
    command = [sys.executable, "-c", OWNER_OF_TWO, str(tmp_path)]
    program = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert program.stdout is not None
    assert program.stdout.readline() == "ready\n"
    engines = psutil.Process(program.pid).children()
    assert [engine.name() for engine in engines] == ["vizdoom", "vizdoom"]
    program.kill()
    program.wait()
    wait_until_nothing_is_left(tmp_path, since)
    assert not any(alive(engine) for engine in engines)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_worker_process_ended_by_a_signal_leaves_nothing(number: int, tmp_path: Path) -> None:
    since = time.time()
    ready = forked.Event()
    child = forked.Process(target=play_two_games, args=(tmp_path, ready.set))
    child.start()
    assert ready.wait(20)
    assert child.pid is not None
    os.kill(child.pid, number)
    child.join()
    wait_until_nothing_is_left(tmp_path, since)


def _start_two_engines(folder: Path, ready: Callable[[], None]) -> None:
    own_temporary_folder(folder)
    ready()
    envs = [doom.make("BP", picture="fast") for _ in range(2)]
    time.sleep(60)
    del envs


@pytest.mark.parametrize("kills", [3, pytest.param(20, marks=pytest.mark.slow)])
def test_program_killed_while_engines_start_leaves_nothing(kills: int, tmp_path: Path) -> None:
    rng = random.Random(kills)
    for _ in range(kills):
        since = time.time()
        ready = forked.Event()
        child = forked.Process(target=_start_two_engines, args=(tmp_path, ready.set))
        child.start()
        ready.wait()
        time.sleep(rng.uniform(0, 0.6))
        child.kill()
        child.join()
        wait_until_nothing_is_left(tmp_path, since)


def _play_and_leave(folder: Path) -> None:
    own_temporary_folder(folder)
    env = doom.make("BP", picture="fast")
    env.reset()
    env.step(0)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_worker_process_that_ends_in_good_order_leaves_nothing(method: str, tmp_path: Path) -> None:
    since = time.time()
    child = multiprocessing.get_context(method).Process(target=_play_and_leave, args=(tmp_path,))
    child.start()
    child.join()
    assert child.exitcode == 0
    wait_until_nothing_is_left(tmp_path, since)


def test_forked_child_neither_uses_nor_ends_its_parents_engine() -> None:
    env = doom.make("BP", picture="fast")
    env.reset()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            env.step(0)
        except doom.EngineError as error:
            status = 0 if f"belongs to process {os.getppid()}" in str(error) else 2
        env.close()
        del env
        gc.collect()
        os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    for _ in range(3):
        env.step(0)
    env.close()


def test_games_share_one_watch_and_ctrl_c_does_not_reach_engines() -> None:
    envs = [doom.make("BP", picture="fast") for _ in range(3)]
    line = lifeline._of_this_program
    assert line is not None
    engines = [json.loads(note.read_text()) for note in line.folder.glob("*.engine")]
    assert len(engines) >= 3
    assert all(os.getpgid(engine["pid"]) != os.getpgid(0) for engine in engines)
    commands = [" ".join(p.info["cmdline"] or ()) for p in psutil.process_iter(["cmdline"])]
    assert sum(f"watch {line.folder}" in command for command in commands) == 1
    for env in envs:
        env.close()


def test_collected_environment_ends_its_engine() -> None:
    env = doom.make("BP", picture="fast")
    line = lifeline._of_this_program
    assert line is not None
    before = set(line.folder.glob("*.engine"))
    del env
    gc.collect()
    after = set(line.folder.glob("*.engine"))
    (note,) = before - after
    assert not note.exists()


def test_running_engine_has_no_file_in_shared_memory() -> None:
    since = time.time()
    env = doom.make("BP", picture="fast")
    env.reset()
    instance = env._engine._game.get_instance_id()
    assert not list(keeper.SHARED_MEMORY.glob(f"*{instance}"))
    assert not keeper._unclaimed(since)
    env.close()


def abandoned_folder(parent: Path, pid: int, started: int) -> Path:
    folder = parent / f"{keeper.FOLDER_PREFIX}test"
    folder.mkdir()
    (folder / "alive").touch()
    note = {"pid": pid, "started": started, "instance": "TestTest00"}
    (folder / "TestTest00.engine").write_text(json.dumps(note))
    os.utime(folder, (0, 0))
    return folder


def test_sweep_ends_an_abandoned_engine_and_removes_its_files(tmp_path: Path) -> None:
    engine = subprocess.Popen(["sleep", "60"])
    started = keeper.start_time(engine.pid)
    assert started is not None
    folder = abandoned_folder(tmp_path, engine.pid, started)
    file = keeper.SHARED_MEMORY / "ViZDoomSMTestTest00"
    file.touch()
    keeper.sweep(tmp_path)
    assert engine.wait() == -signal.SIGKILL
    assert not file.exists()
    assert not folder.exists()


def test_process_that_only_inherited_the_number_is_spared(tmp_path: Path) -> None:
    stranger = subprocess.Popen(["sleep", "60"])
    started = keeper.start_time(stranger.pid)
    assert started is not None
    abandoned_folder(tmp_path, stranger.pid, started - 1)
    keeper.sweep(tmp_path)
    assert stranger.poll() is None
    stranger.kill()
    stranger.wait()


def test_sweep_leaves_a_living_program_alone(tmp_path: Path) -> None:
    import fcntl

    folder = abandoned_folder(tmp_path, 1, 0)
    with open(folder / "alive") as alive:
        fcntl.flock(alive, fcntl.LOCK_EX)
        keeper.sweep(tmp_path)
        assert folder.exists()
    keeper.sweep(tmp_path)
    assert not folder.exists()


def test_where_nothing_can_be_executed_games_run_all_the_same(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(lifeline, "_of_this_program", None)
    monkeypatch.setattr(lifeline, "_unavailable", False)
    monkeypatch.setattr(lifeline.os, "access", lambda path, mode: Path(path).name != "launch")
    with pytest.warns(RuntimeWarning, match="will outlive this program if it is killed"):
        env = doom.make("BP", picture="fast")
    env.reset()
    env.step(0)
    env.close()


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_ten_thousand_resets_grow_memory_by_less_than_50_mb() -> None:
    env = doom.make("BP")

    def resident() -> int:
        processes = [psutil.Process(), *psutil.Process().children()]
        return sum(process.memory_info().rss for process in processes)

    for _ in range(50):
        env.reset()
        env.step(1)
    before = resident()
    for _ in range(10_000):
        env.reset()
        env.step(1)
    grown = (resident() - before) / 2**20
    print(f"10,000 resets: {grown:+.1f} MB")
    env.close()
    assert grown < 50
