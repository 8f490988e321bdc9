"""`neuroplastic study` from the command line: a whole life of a study, Ctrl-C, and what it says to mistakes."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time

import optuna
import pytest

from neuroplastic.cli.main import main
from neuroplastic.cli.study import _anew
from neuroplastic.search.confirmed import Confirmation, NewScore

CHEAP = ["--objective", "neuroplastic.search.cheap:bowl", "--epochs", "2", "--episodes", "3"]
RUN = ["study", "run", "--task", "BP", "--agent", "dnn", "--workers", "1", *CHEAP]


def test_run_status_best_export_and_a_neuro_fuzzy_study_that_inherits(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main([*RUN, "--trials", "2"]) == 0
    first = capsys.readouterr().out
    assert "not the paper's protocol: 2 epochs of 500 steps, 3 episodes" in first
    assert "2/2" in first
    assert main([*RUN, "--trials", "3"]) == 0, "more trials of the same study"
    assert main([*RUN, "--trials", "2"]) == 0, "it has more than that: nothing to do"
    capsys.readouterr()

    assert main(["study", "status"]) == 0
    assert "BP-dnn: 3/3 complete, 0 running, 0 failed" in capsys.readouterr().out
    assert main(["study", "best", "BP-dnn"]) == 0
    best = capsys.readouterr().out
    assert "best of 3 finished trials" in best
    told = re.search(r"greatest mean is ([0-9.]+); of half as many trials it is ([0-9.]+) on average", best)
    assert told, best
    assert float(told[1]) > float(told[2])
    assert "protocol" in best

    assert main(["study", "confirm", "BP-dnn", "--seeds", "2", "--episodes", "5", "--workers", "1"]) == 0
    anew = capsys.readouterr().out
    assert re.search(r"seed 1001: [0-9.]+, SD [0-9.]+, on 5 new episodes", anew)
    assert re.search(r"trial \d, one of 3, in the search: [0-9.]+\nanew, seeds 1000 to 1001, 5 new ", anew)
    assert main(["study", "status"]) == 0
    assert f"  {anew.splitlines()[-1]}\n" in capsys.readouterr().out

    assert main(["study", "export", "BP-dnn", "--preset", "best.json", "--csv", "all.csv"]) == 0
    with open("all.csv") as file:
        rows = list(csv.DictReader(file))
    assert [row["trial"] for row in rows] == ["0", "1", "2"]
    assert json.loads((tmp_path / "best.json").read_text())["origin"]["study"] == "BP-dnn"
    before = (tmp_path / "best.json").read_bytes()
    capsys.readouterr()
    assert main(["study", "export", "BP-dnn", "--preset", "best.json"]) == 2
    assert "left as it is" in capsys.readouterr().err
    assert (tmp_path / "best.json").read_bytes() == before

    assert main([*RUN, "--agent", "nfn", "--trials", "1"]) == 0
    taken = capsys.readouterr().out
    assert "inherited from trial" in taken
    assert re.search(r"memory_size \d+,", taken)
    assert main([*RUN, "--trials", "3", "--epochs", "4"]) == 2
    assert "begun with epochs 2" in capsys.readouterr().err


@pytest.mark.slow  # four processes that import everything; tests/study/test_search.py interrupts without them
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_ctrl_c_or_kill_then_the_same_command_gives_exactly_the_trials_asked_for(tmp_path, end):
    words = [
        *RUN,
        "--trials",
        "12",
        "--storage",
        f"sqlite:///{tmp_path}/s.db",
        "--runs",
        str(tmp_path / "runs"),
    ]
    words[words.index(CHEAP[1])] = "tests.search.objectives:fifth_of_a_second"
    words[words.index("--workers") + 1] = "2"
    command = [sys.executable, "-m", "neuroplastic.cli.main", *words]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.getcwd()}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    )
    witness = tmp_path / "runs" / "BP-dnn" / "computed"
    deadline = time.monotonic() + 200
    while not witness.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(end)
    output, _ = process.communicate(timeout=100)
    if end == signal.SIGINT:
        assert process.returncode == 130, output
        assert "run the same command to go on" in output
    assert len(witness.read_text().splitlines()) < 12

    ended = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=250)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "best of 12 finished trials" in ended.stdout
    assert "Traceback" not in output + ended.stdout + ended.stderr
    from tests.search.studies import trials_of

    states = [trial.state.name for trial in trials_of(f"sqlite:///{tmp_path}/s.db", "BP-dnn")]
    assert states.count("COMPLETE") == 12
    assert set(states) <= {"COMPLETE", "FAIL"}


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["run", "--task", "BPP", "--agent", "dnn"], "did you mean"),
        (["run", "--task", "BP", "--agent", "dnnn"], "did you mean 'dnn'"),
        (["run", "--task", "BP", "--agent", "dnn", "--trials", "0"], "--trials must be"),
        (["run", "--task", "BP", "--agent", "dnn", "--workers", "0"], "--workers must be"),
        (["run", "--task", "BP", "--agent", "dnn", "--engine", "rya"], "did you mean 'ray'"),
        (["run", "--task", "BP", "--agent", "dnn", "--device", "abacus"], "--device must be"),
        (["run", "--task", "BP", "--agent", "dnn", "--storage", "mysql://x/y"], "a storage is"),
        (["run", "--task", "BP", "--agent", "dnn", "--storage", "sqlite:///no/where.db"], "does not exist"),
        (["run", "--task", "BP", "--agent", "dnn", "--inherit", "paper"], "--inherit is for --agent nfn"),
        (["run", "--task", "BP", "--agent", "dnn", "--picture", "fats"], "did you mean 'fast'"),
        (["run", "--task", "BP", "--agent", "dnn", "--epochs", "0"], "epochs must be"),
        (["status"], "there is no study storage"),
        (["best", "BP-dnn"], "there is no study storage"),
        (["export", "BP-dnn"], "say what to write"),
    ],
)
def test_mistake_gets_one_clear_line_and_leaves_nothing(words, complaint, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["study", *words]) == 2
    error = capsys.readouterr().err
    assert complaint in error
    assert error.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_neuro_fuzzy_study_without_a_plain_one_says_what_to_do(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["study", "run", "--task", "BP", "--agent", "nfn", "--trials", "1"]) == 2
    error = capsys.readouterr().err
    assert "--agent dnn` first" in error
    assert "--inherit paper" in error
    assert main(["study", "status"]) == 0
    assert "no studies yet" in capsys.readouterr().out


def test_empty_study_and_unknown_study_are_named(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    from tests.search.studies import begin

    begin(tmp_path, "sqlite:///studies.db", 3, name="BP-dnn")
    assert main(["study", "best", "BP-dnn"]) == 2
    assert "no finished trial yet" in capsys.readouterr().err
    assert main(["study", "export", "BP-dnn", "--csv", "x.csv"]) == 2
    assert not (tmp_path / "x.csv").exists()
    assert main(["study", "best", "GH-dnn"]) == 2
    assert "there are BP-dnn" in capsys.readouterr().err
    assert main(["study", "status"]) == 0
    assert "BP-dnn: 0/3 complete" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("seeds", "told"),
    [
        ([1000], "anew, seed 1000, 5 new episodes: mean 1000.00"),
        (
            [1000, 1001, 1002],
            "anew, seeds 1000 to 1002, 5 new episodes each: mean 1001.00, SD of the seeds 1.00",
        ),
        ([1000, 1002], "anew, seeds 1000, 1002, 5 new episodes each: mean 1001.00, SD of the seeds 1.41"),
    ],
)
def test_only_seeds_that_are_there_are_told_and_their_sd_where_there_is_one(seeds, told):
    scores = [NewScore(seed, (1.0,), float(seed), 0.0, 5) for seed in seeds]
    assert _anew(Confirmation(scores)) == told


@pytest.mark.parametrize("objectives", [1, 3])
def test_study_of_someone_else_in_the_same_storage_is_told_apart(capsys, tmp_path, monkeypatch, objectives):
    monkeypatch.chdir(tmp_path)
    own = optuna.create_study(
        storage="sqlite:///studies.db", study_name="own", directions=["maximize"] * objectives
    )
    own.optimize(lambda trial: [trial.suggest_float("x", 0, 1)] * objectives, n_trials=1)
    assert main(["study", "status"]) == 0
    assert "own: 1 complete" in capsys.readouterr().out
    for words in (["best", "own"], ["export", "own", "--csv", "x.csv"]):
        assert main(["study", *words]) == 2
        told = capsys.readouterr()
        assert "'own' was not made by `neuroplastic study run`" in told.err
        assert not told.out
    assert main(["study", "run", "--task", "BP", "--agent", "nfn", "--inherit", "own"]) == 2


def test_a_study_without_options_has_the_papers_protocol():
    from neuroplastic.search.settings import StudySettings

    plain = StudySettings.asked("BP", "dnn")
    assert (plain.preset, plain.epochs, plain.steps_per_epoch, plain.episodes) == ("paper", 10, 500, 25)
    assert (plain.games, plain.seed, plain.learner) == (1, 0, "dqn")


def test_help_shows_no_hook_of_the_tests(capsys):
    with pytest.raises(SystemExit):
        main(["study", "run", "--help"])
    text = capsys.readouterr().out
    assert "--objective" not in text
    assert "--steps-per-epoch" in text
