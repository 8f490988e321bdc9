"""The command line on the real game, and what it says to mistakes."""

import csv
import json
import signal
import subprocess
import sys
import time

import pytest
from safetensors.torch import load_file

from neuroplastic.cli.main import main

TINY = ["--epochs", "2", "--steps-per-epoch", "40", "--episodes", "2", "--rules", "8", "--batch-size", "8"]


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "neuroplastic.cli.main", *words]


def test_train_evaluate_record_and_list_a_run(tmp_path, capsys):
    runs = str(tmp_path / "runs")
    assert main(["train", "BP", "--threads", "1", "--runs", runs, "--seed", "4", *TINY]) == 0
    run = tmp_path / "runs" / "BP-nfn-tuned-seed4"
    assert "the paper's best trial" in capsys.readouterr().out
    with (run / "metrics.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["steps"] for row in rows] == ["40", "80"]
    assert (run / "births.csv").read_text().count("\n") == int(rows[-1]["born"]) + 1
    assert json.loads((run / "config.json").read_text())["head"]["rules"] == 8
    assert list(run.glob("events.out.tfevents*"))

    assert main(["evaluate", str(run), "--episodes", "2"]) == 0
    best = max(float(row["mean"]) for row in rows)
    assert f"{best:.2f} +-" in capsys.readouterr().out, "evaluation repeats the best epoch's episodes"

    assert main(["record", str(run), "--explain"]) == 0
    assert "rules fired" in capsys.readouterr().out
    film = (run / "episode-0.mp4").read_bytes()
    assert film[4:8] == b"ftyp"
    assert len(film) > 10_000

    assert main(["runs", "--runs", runs]) == 0
    assert "BP-nfn-tuned-seed4" in capsys.readouterr().out


def test_interrupted_run_goes_on_to_exactly_the_same_end(tmp_path):
    words = ["train", "TC", "--agent", "nfn", "--threads", "1", *TINY]
    subprocess.run(
        command(*words, "--runs", str(tmp_path / "whole")), check=True, capture_output=True, timeout=200
    )
    process = subprocess.Popen(
        command(*words, "--runs", str(tmp_path / "cut")),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    cut = tmp_path / "cut" / "TC-nfn-tuned-seed0"
    deadline = time.monotonic() + 120
    while not (cut / "metrics.csv").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130, output
    assert f"neuroplastic train --resume {cut}" in output
    subprocess.run(
        command("train", "--threads", "1", "--resume", str(cut)), check=True, capture_output=True, timeout=200
    )
    whole = tmp_path / "whole" / "TC-nfn-tuned-seed0"
    assert (cut / "metrics.csv").read_text() == (whole / "metrics.csv").read_text()
    assert (cut / "births.csv").read_text() == (whole / "births.csv").read_text()
    ends = [load_file(run / "checkpoints" / max_step(run) / "tensors.safetensors") for run in (cut, whole)]
    assert ends[0].keys() == ends[1].keys()
    different = [name for name in ends[0] if not ends[0][name].equal(ends[1][name])]
    assert not different


def max_step(run) -> str:
    return max(path.name for path in (run / "checkpoints").iterdir())


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["train", "HTLL"], "did you mean"),
        (["train"], "name a scenario"),
        (["train", "BP", "--agent", "nnf"], "did you mean 'nfn'"),
        (["train", "BP", "--preset", "tunde"], "did you mean 'tuned'"),
        (["train", "BP", "--learnin-rate", "1"], "did you mean 'learning_rate'"),
        (["train", "BP", "--learning-rate", "fast"], "learning_rate must be a number"),
        (["train", "BP", "--temperature", "-1"], "temperature"),
        (["train", "BP", "--rules"], "--rules needs a value"),
        (["train", "BP", "--device", "abacus"], "--device must be"),
        (["train", "--resume", "nowhere"], "nowhere is not a run"),
        (["train", "BP", "--resume", "nowhere"], "no scenario"),
        (["evaluate", "nowhere"], "nowhere is not a run"),
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


def test_no_runs_says_how_to_start_one(tmp_path, capsys):
    assert main(["runs", "--runs", str(tmp_path)]) == 0
    assert "neuroplastic train BP" in capsys.readouterr().out


def test_help_lists_every_field(capsys):
    with pytest.raises(SystemExit):
        main(["train", "--help"])
    text = capsys.readouterr().out
    for field in ("--learning-rate", "--rules", "--activation", "--epsilon", "--frame-skip"):
        assert field in text
