"""The command line on the real game, and what it says to mistakes."""

import csv
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from safetensors.torch import load_file

from neuroplastic.cli.main import main
from neuroplastic.cli.train import field_values
from neuroplastic.errors import ConfigError
from neuroplastic.usecases.devices import usable_device

# Of a preset whose networks grow.
TINY = [
    "--preset",
    "tuned",
    "--epochs",
    "2",
    "--steps-per-epoch",
    "24",
    "--episodes",
    "2",
    "--rules",
    "8",
    "--batch-size",
    "8",
]


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "neuroplastic.cli.main", *words]


def test_train_evaluate_record_and_list_a_run(tmp_path, capsys):
    runs = str(tmp_path / "runs")
    assert main(["train", "BP", "--threads", "1", "--runs", runs, "--seed", "4", *TINY]) == 0
    run = tmp_path / "runs" / "BP-nfn-tuned-seed4"
    assert "the paper's NFN" in capsys.readouterr().out
    with (run / "metrics.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["steps"] for row in rows] == ["24", "48"]
    assert (run / "births.csv").read_text().count("\n") == int(rows[-1]["born"]) + 1
    assert json.loads((run / "config.json").read_text())["head"]["rules"] == 8
    assert list(run.glob("events.out.tfevents*"))

    assert main(["evaluate", str(run), "--episodes", "2"]) == 0
    best = max(float(row["mean"]) for row in rows)
    assert f"{best:.2f} +-" in capsys.readouterr().out, "evaluation repeats the best epoch's episodes"

    assert main(["record", str(run)]) == 0
    film = (run / "episode-0.mp4").read_bytes()
    assert film[4:8] == b"ftyp"
    assert len(film) > 10_000

    assert main(["runs", "--runs", runs]) == 0
    assert "BP-nfn-tuned-seed4" in capsys.readouterr().out


@pytest.mark.slow  # the heat of every decision
def test_a_film_that_explains_has_twenty_seconds_or_five_episodes(tmp_path, capsys):
    assert main(["train", "BP", "--threads", "1", "--runs", str(tmp_path), "--seed", "4", *TINY]) == 0
    assert main(["record", str(tmp_path / "BP-nfn-tuned-seed4"), "--explain"]) == 0
    assert "rules fired" in capsys.readouterr().out
    assert (tmp_path / "BP-nfn-tuned-seed4" / "episode-0.mp4").stat().st_size > 10_000


def started(scenario: str, runs: Path) -> tuple[subprocess.Popen[str], Path]:
    """A tiny run in a process of its own, and its folder."""
    process = subprocess.Popen(
        command("train", scenario, "--threads", "1", *TINY, "--runs", str(runs)),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return process, runs / f"{scenario}-nfn-tuned-seed0"


def wait_for(file: Path) -> None:
    deadline = time.monotonic() + 250
    while not file.exists():
        assert time.monotonic() < deadline, f"{file} did not come"
        time.sleep(0.02)


def assert_same_end(cut: Path, whole: Path) -> None:
    """Metrics, births, best network and the last checkpoint, which holds all the rest, are equal to the last bit."""
    for name in ("metrics.csv", "births.csv", "best.safetensors"):
        assert (cut / name).read_bytes() == (whole / name).read_bytes(), name
    ends = [max((run / "checkpoints").iterdir()) for run in (cut, whole)]
    names = [sorted(file.name for file in end.iterdir()) for end in ends]
    assert ends[0].name == ends[1].name
    assert names[0] == names[1]
    tensors = [load_file(end / "tensors.safetensors") for end in ends]
    assert tensors[0].keys() == tensors[1].keys()
    different = [name for name in tensors[0] if not tensors[0][name].equal(tensors[1][name])]
    assert not different
    for name in names[0]:
        assert (ends[0] / name).read_bytes() == (ends[1] / name).read_bytes(), name


@pytest.mark.slow  # `test_killed.py` and `test_without_the_game.py` stop and resume smaller runs
def test_interrupted_run_goes_on_to_exactly_the_same_end(tmp_path):
    process, cut = started("TC", tmp_path / "cut")
    wait_for(cut / "metrics.csv")
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130, output
    assert f"neuroplastic train --resume {cut}" in output
    assert main(["train", "--threads", "1", "--resume", str(cut)]) == 0
    assert main(["train", "TC", "--threads", "1", *TINY, "--runs", str(tmp_path / "whole")]) == 0
    assert_same_end(cut, tmp_path / "whole" / cut.name)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("scenario", ["BP", "DTC", "TC"])
def test_run_killed_at_random_moments_goes_on_to_exactly_the_same_end(scenario, tmp_path):
    """SIGKILL once in training or evaluation before any checkpoint, and once after the first."""
    rng = np.random.default_rng(len(scenario))
    process, cut = started(scenario, tmp_path / "cut")
    wait_for(cut / "config.json")
    time.sleep(rng.uniform(0, 2))
    process.kill()
    process.communicate()
    again = subprocess.Popen(
        command("train", "--threads", "1", "--resume", str(cut)), stdout=subprocess.DEVNULL
    )
    wait_for(cut / "metrics.csv")
    time.sleep(rng.uniform(0, 1))
    again.kill()
    assert again.wait() == -signal.SIGKILL, "it came to its end before the kill"
    subprocess.run(
        command("train", "--threads", "1", "--resume", str(cut)), check=True, capture_output=True, timeout=600
    )
    subprocess.run(
        command("train", scenario, "--threads", "1", *TINY, "--runs", str(tmp_path / "whole")),
        check=True,
        capture_output=True,
        timeout=600,
    )
    assert_same_end(cut, tmp_path / "whole" / cut.name)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_long_run_of_many_games_that_is_killed_twice_goes_on_to_exactly_the_same_end(tmp_path):
    """SIGKILL once before any checkpoint and once after the first, with the games in processes of their own."""
    words = ["train", "BP", "--preset", "long", "--threads", "1", "--epochs", "3", "--steps-per-epoch", "512"]
    words += ["--episodes", "2", "--training-games", "8", "--rollout", "16", "--batch-size", "32"]
    words += ["--processes", "2"]
    cut, whole = (tmp_path / name / "BP-nfn-long-seed0" for name in ("cut", "whole"))
    process = subprocess.Popen(command(*words, "--runs", str(cut.parent)), stdout=subprocess.DEVNULL)
    wait_for(cut / "config.json")
    time.sleep(1)
    process.kill()
    process.wait()
    resume = command("train", "--threads", "1", "--resume", str(cut))
    again = subprocess.Popen(resume, stdout=subprocess.DEVNULL)
    wait_for(cut / "metrics.csv")
    time.sleep(0.3)
    again.kill()
    assert again.wait() == -signal.SIGKILL, "it came to its end before the kill"
    subprocess.run(resume, check=True, capture_output=True, timeout=600)
    subprocess.run(command(*words, "--runs", str(whole.parent)), check=True, capture_output=True, timeout=600)
    assert_same_end(cut, whole)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["train", "HTLL"], "did you mean"),
        (["train"], "name a TASK"),
        (["train", "BP", "--agent", "nnf"], "did you mean 'nfn'"),
        (["train", "BP", "--preset", "tunde"], "did you mean 'tuned'"),
        (["train", "BP", "--learnin-rate", "1"], "did you mean 'learning_rate'"),
        (["train", "BP", "--learning-rate", "fast"], "learning_rate must be a number"),
        (["train", "BP", "--temperature", "-1"], "temperature"),
        (["train", "BP", "--rules"], "--rules needs a value"),
        (["train", "--rules", "--seed", "3", "BP"], "--rules needs a value"),
        (["train", "BP", "TC"], "expected --field value, got 'TC'"),
        (["train", "BP", "--device", "abacus"], "--device must be"),
        (["train", "BP", "--device", "mps"], "--device must be cpu, cuda or cuda:NUMBER, got 'mps'"),
        (["train", "BP", "--device", "meta"], "--device must be"),
        (["train", "BP", "--input-low", "3"], "input_low"),
        (["train", "--resume", "nowhere"], "nowhere is not a run"),
        (["train", "BP", "--resume", "nowhere"], "give no TASK"),
        (["train", "--resume", "nowhere", "--preset", "paper"], "--preset"),
        (
            ["train", "BP", "--from", "DTC", "--preset", "tuned"],
            "the agents are built otherwise: task DTC there, BP here",
        ),
        (
            ["train", "GH", "--from", "GH"],
            "the agents are built otherwise: encoder pictures there, places here",
        ),
        (["train", "--from", "DTC-student"], "a student learns from its teacher"),
        (["train", "--resume", "nowhere", "--agent", "dnn"], "--agent"),
        (["train", "--resume", "nowhere", "--runs", "there"], "--runs"),
        (["train", "BP", "--memory-size", "1e4"], "memory_size must be a whole number, got '1e4'"),
        (["evaluate", "nowhere"], "nowhere is not a run"),
        (["evaluate", "BP", "--device", "mps"], "--device must be cpu, cuda or cuda:NUMBER, got 'mps'"),
        (["evaluate", "BP", "--games", "0"], "--games"),
        (["record", "nowhere"], "nowhere is not a run"),
    ],
)
def test_mistake_gets_one_clear_line_and_exit_code_2(words, complaint, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    error = capsys.readouterr().err
    assert complaint in error
    assert error.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "words",
    [
        ["BP", "--epochs", "2", "--agent", "dnn", "--levels", "64, 32", "--temperature", "-1"],
        ["--epochs", "2", "BP", "--levels", "64, 32", "--temperature=-1", "--agent", "dnn"],
        ["--levels", "64, 32", "--agent=dnn", "--temperature", "-1", "--epochs=2", "BP"],
    ],
)
def test_a_scenario_may_stand_before_or_after_fields(words, monkeypatch):
    seen = []
    monkeypatch.setattr("neuroplastic.cli.train.run", lambda options: seen.append(options) or 0)
    assert main(["train", *words]) == 0
    assert (seen[0].task, seen[0].agent) == ("BP", "dnn")
    assert field_values(seen[0].fields) == {"epochs": "2", "levels": "64, 32", "temperature": "-1"}


@pytest.mark.parametrize(("count", "words"), [(0, "sees no CUDA device"), (2, "the last .* is cuda:1")])
def test_a_cuda_device_that_is_not_there_is_refused(count, words, monkeypatch):
    monkeypatch.setattr("torch.cuda.device_count", lambda: count)
    with pytest.raises(ConfigError, match=words):
        usable_device("cuda:9")


def test_a_run_that_cannot_begin_leaves_no_folder(tmp_path, monkeypatch, capsys):
    def broken(*_: object, **__: object) -> None:
        raise ConfigError("no game here")

    monkeypatch.setattr("neuroplastic.usecases.training.Trial", broken)
    assert main(["train", "BP", "--runs", str(tmp_path)]) == 2
    assert "no game here" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_no_runs_says_how_to_start_one(tmp_path, capsys):
    assert main(["runs", "--runs", str(tmp_path)]) == 0
    assert "neuroplastic train BP" in capsys.readouterr().out


def test_help_lists_every_field(capsys):
    with pytest.raises(SystemExit):
        main(["train", "--help"])
    text = capsys.readouterr().out
    for field in ("--learning-rate", "--rules", "--activation", "--epsilon", "--frame-skip"):
        assert field in text
