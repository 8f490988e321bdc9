"""A task of one's own needs neither DOOM, nor Gymnasium's extras, nor Ray: it is trained, searched and reported."""

import csv
import json
import re
import shutil
import signal
from functools import partial
from pathlib import Path

import pytest

from tests.commands import Done, Signal

HERE = Path(__file__).parent
KEPT = HERE / "kept" / "v0_1"
EXTRAS = ("pygame", "Box2D", "ale_py", "mujoco", "imageio", "moviepy")
GAMES = ("vizdoom", "cv2", "imageio_ffmpeg", "tensorboard", "ray", *EXTRAS)
CORRIDOR, OWN = "tests.small_game:corridor", ("--import", "tests.small_game")
TINY = ("--epochs", 2, "--episodes", 3, "--training-games", 8, "--rollout", 8, "--batch-size", 32)


@pytest.fixture
def without(command):
    return partial(command, without=GAMES)


def lines_by_name(done: Done) -> dict[str, list[str]]:
    """The words behind the first one of each line."""
    return {line.split()[0]: line.split()[1:] for line in done.out.splitlines()}


def test_a_small_game_is_trained_stopped_resumed_and_asked_what_it_learned(without, tmp_path):
    words = ["train", CORRIDOR, "--steps-per-epoch", 256, *TINY, "--rules", 8]
    stopped = without(*words, code=130, signal=Signal(signal.SIGINT, told=40))
    run = "corridor-nfn-standard-seed0"
    assert f"neuroplastic train --resume runs/{run} --import tests.small_game" in stopped.out
    without("train", "--resume", run, *OWN)
    without(*words, "--runs", "whole")
    for name in ("metrics.csv", "returns.csv", "births.csv", "best.safetensors"):
        assert (tmp_path / "runs" / run / name).read_bytes() == (tmp_path / "whole" / run / name).read_bytes()

    assert lines_by_name(without("runs"))[run][:2] == ["2/2", "512"], "to list runs, no task need be known"
    rules = without("rules", run, *OWN).out
    assert rules.count("IF place is ") == 8
    assert rules.count(" THEN left") + rules.count(" THEN right") == 8
    assert " THEN left is " in without("rules", run, *OWN, "--formulas").out
    assert "decision: " in without("explain", run, *OWN).out
    best = max(float(row["mean"]) for row in csv.DictReader((tmp_path / "runs" / run / "metrics.csv").open()))
    assert f"corridor nfn (best epoch): {best:.2f} +-" in without("evaluate", run, *OWN, "--episodes", 3).out
    refused = without("record", run, *OWN, code=2).err
    assert "a film needs OpenCV and imageio-ffmpeg" in refused


@pytest.mark.slow
def test_small_pictures_are_played_in_worker_processes(without, tmp_path):
    words = ["train", "tests.small_game:catch", "--agent", "dnn", "--steps-per-epoch", 128, *TINY]
    without(*words, "--runs", "alone", "--processes", 0)
    without(*words, "--runs", "shared", "--processes", 2)
    for name in ("metrics.csv", "returns.csv", "best.safetensors"):
        alone, shared = (tmp_path / runs / "catch-dnn-standard-seed0" / name for runs in ("alone", "shared"))
        assert alone.read_bytes() == shared.read_bytes()


@pytest.fixture(scope="module")
def searched(command_server, tmp_path_factory):
    """Where three studies lie, made by two workers: of a small game, for both agents, and of CartPole.

    The neuro-fuzzy agent inherits from the plain one. Of Gymnasium only the extras are missing.
    """
    folder = tmp_path_factory.mktemp("searched")
    run = partial(command_server, folder=folder, without=GAMES)
    search = ["study", "run", "--task", CORRIDOR, "--steps-per-epoch", 64, *TINY[:8], "--trials", 4]
    run(*search, "--agent", "dnn", "--workers", 2)
    taken = run(*search, "--agent", "nfn", "--workers", 2)
    assert "inherited from trial" in taken.out
    replay = ("--task", "CartPole-v1", "--learner", "dqn", "--learning-starts", 16, "--steps-per-epoch", 48)
    run("study", "run", *replay, *TINY[:4], "--agent", "dnn", "--trials", 2, "--workers", 2)
    return folder


@pytest.mark.slow
def test_small_games_are_searched_by_two_workers_and_the_best_trial_is_trained(without, searched, tmp_path):
    storage = ("--storage", f"sqlite:///{searched / 'studies.db'}")
    status = without("study", "status", *storage).out
    for study in ("corridor-dnn: 4/4", "corridor-nfn: 4/4", "CartPole-v1-dnn: 2/2"):
        assert f"{study} complete, 0 running, 0 failed" in status
    assert (
        "best of 4 finished trials of corridor-nfn" in without("study", "best", "corridor-nfn", *storage).out
    )
    export = ("study", "export", "corridor-dnn", *storage, "--preset", "best.json", "--csv", "all.csv")
    assert "add --import tests.small_game, if you trust it" in without(*export, code=2).err
    without(*export, *OWN)
    with (tmp_path / "all.csv").open() as file:
        assert [row["task"] for row in csv.DictReader(file)] == [CORRIDOR] * 4
    trained = without("train", CORRIDOR, "--agent", "dnn", "--preset", "best.json", "--epochs", 1)
    assert "preset corridor-dnn-trial" in trained.out


def reported(without, *studies: Path) -> str:
    without("report", *studies, "--out", "page")
    return Path(without.keywords["folder"], "page", "index.html").read_text()


@pytest.mark.slow
def test_studies_of_a_small_game_and_of_cartpole_are_reported_beside_those_of_an_earlier_version(
    without, searched
):
    page = reported(without, searched / "studies.db", KEPT / "studies" / "studies.db")
    assert {"corridor-dnn", "corridor-nfn", "CartPole-v1-dnn", "BP-dnn"} <= set(re.findall(r"[\w-]+", page))


@pytest.mark.slow  # 240 trials are analysed
def test_the_studies_of_the_documentation_are_reported(without):
    assert "GH-nfn" in reported(without, HERE.parent / "docs" / "data" / "studies.db")


def test_runs_and_studies_of_earlier_versions_are_read(without, tmp_path):
    runs = lines_by_name(without("runs", "--runs", KEPT / "runs" / "finished"))
    assert runs["DTC-nfn-paper-seed7"][0] == "2/2"
    assert "unreadable" not in str(runs)
    for folder, count in ((KEPT / "studies", 3), (HERE.parent / "docs" / "data", 4)):
        shutil.copy(folder / "studies.db", tmp_path)  # opening may bring a storage up to date
        assert without("study", "status").out.count(" complete, 0 running") == count


def test_without_gymnasium_itself_what_is_there_is_read_and_its_environments_are_refused_by_name(
    command, tmp_path
):
    bare = partial(command, without=(*GAMES, "gymnasium"))
    shutil.copy(KEPT / "studies" / "studies.db", tmp_path / "studies.db")
    assert "DTC-nfn-paper-seed7" in bare("runs", "--runs", KEPT / "runs" / "finished").out
    assert "complete" in bare("study", "status").out
    bare("train", CORRIDOR, *TINY, "--steps-per-epoch", 64)
    refused = bare("train", "CartPole-v1", code=2).err
    assert "CartPole-v1" in refused
    assert "pip install 'neuroplastic[gym]'" in refused
    config = {"kind": "gym", "environment_id": "CartPole-v1", "frame_stack": 1, "names": []}
    run = tmp_path / "runs" / "corridor-nfn-standard-seed0"
    written = json.loads((run / "config.json").read_text())
    (run / "config.json").write_text(json.dumps({**written, "task": config}))
    assert "2/2" in bare("runs").out
    for words in (("evaluate", run), ("rules", run), ("train", "--resume", run)):
        assert "pip install 'neuroplastic[gym]'" in bare(*words, code=2).err
