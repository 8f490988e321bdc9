"""Tasks of the user's own modules: found where they are named, and imported because of no file."""

import json
import sqlite3

import pytest

TINY = ("--epochs", 1, "--episodes", 2, "--steps-per-epoch", 64)
SMALL = ("--training-games", 4, "--rollout", 8, "--batch-size", 16)
MODULE = """
from dataclasses import dataclass

from neuroplastic import catalog
from tests.small_game import CorridorTask


@dataclass(frozen=True)
class MazeTask(CorridorTask):
    key = "maze"


def find(name):
    return MazeTask() if name == "maze" else None


catalog.register("task", "maze", MazeTask)
"""


def test_a_task_of_a_module_in_the_present_folder_is_trained_extended_and_searched(command, tmp_path):
    (tmp_path / "my_games.py").write_text(MODULE)
    own = ("--import", "my_games")
    assert "there is no task 'maze'" in command("train", "maze", code=2).err
    command("train", "maze", *own, *TINY, *SMALL, "--cells", 7)
    run = "maze-nfn-standard-seed0"
    refused = command("train", "--resume", run, code=2).err
    assert "task must be one of 'doom', 'gym', got 'maze'" in refused
    assert "add --import MODULE" in refused
    assert "epoch  2" in command("train", "--resume", run, *own, "--epochs", 2).out
    command("study", "run", "--task", "maze", *own, *TINY, "--agent", "dnn", "--trials", 1, "--workers", 1)
    assert "maze-dnn: 1/1 complete" in command("study", "status").out


def test_a_module_that_cannot_be_imported_is_named(command):
    for words in (["train", "nowhere:maze"], ["evaluate", "x", "--import", "nowhere"]):
        said = command(*words, code=2).err
        assert "the module 'nowhere' cannot be imported: No module named 'nowhere'" in said
    assert "cannot be imported" in command("train", ":maze", code=2).err


def test_an_environment_that_an_own_module_registers_is_played_in_worker_processes(command):
    own = ("--import", "tests.gym_catch")
    command("train", "SmallCatch-v0", *own, "--agent", "dnn", *TINY, *SMALL, "--processes", 2)
    assert "add --import" in command("evaluate", "SmallCatch-v0-dnn-standard-seed0", code=2).err
    command("evaluate", "SmallCatch-v0-dnn-standard-seed0", *own, "--episodes", 2)


@pytest.fixture
def stranger(tmp_path):
    """A module that leaves a trace when it is imported."""
    (tmp_path / "stranger.py").write_text("open('was_here', 'w')\n")
    return tmp_path / "was_here"


def test_a_run_of_a_stranger_imports_no_module(command, tmp_path, stranger):
    command("train", "CartPole-v1", *TINY, *SMALL)
    (run,) = (tmp_path / "runs").iterdir()
    config = json.loads((run / "config.json").read_text())
    config["task"]["environment_id"] = "stranger:CartPole-v1"
    (run / "config.json").write_text(json.dumps(config))
    for words in (("evaluate", run), ("rules", run), ("train", "--resume", run)):
        assert "add --import stranger, if you trust it" in command(*words, code=2).err
    assert "1/1" in command("runs").out
    assert not stranger.exists()


def test_a_study_of_a_stranger_imports_no_module(command, tmp_path, stranger):
    search = ("study", "run", "--agent", "dnn", *TINY, "--trials", 1, "--workers", 1, "--name", "s")
    command(*search, "--task", "CartPole-v1")
    with sqlite3.connect(tmp_path / "studies.db") as storage:
        storage.execute(
            "UPDATE study_user_attributes SET value_json = replace(value_json, 'CartPole', 'stranger:CartPole')"
        )
    command("study", "status")
    command("study", "best", "s")
    for words in (("study", "export", "s", "--csv", "x.csv"), (*search, "--task", "CartPole-v1")):
        command(*words, code=None)
    for words in (("export", "s", "--preset", "x.json"), ("confirm", "s")):
        assert "add --import" in command("study", *words, code=2).err
    assert not stranger.exists()
