"""What a trial tells of its rules, on small games: figures of every epoch, and a diagnosis in the end."""

import csv

import pytest

from neuroplastic.cli.main import main
from neuroplastic.errors import MissingPackageError
from neuroplastic.experiment.options import with_values
from neuroplastic.experiment.run_folder import RunFolder
from neuroplastic.experiment.trial import DIAGNOSED, KEPT_FIGURES, Trial
from neuroplastic.rules.diagnosing import diagnose
from tests.small_game import CatchTask, CorridorTask

SHORT = {"epochs": 2, "steps_per_epoch": 64, "episodes": 2, "batch_size": 8}


def tiny(task, agent, learner):
    fields = SHORT | ({"rules": 5} if agent == "nfn" else {})
    fields |= {"training_games": 4, "rollout": 8} if learner == "parallel_q" else {"learning_starts": 9}
    fields |= {"features": 8} if task.observation.is_picture else {}
    return with_values(task.preset("standard", agent, learner), fields)


def ran(config, path):
    with Trial(config, RunFolder.create(path, config)) as trial:
        trial.run()
    return trial


@pytest.mark.parametrize("learner", ["parallel_q", "dqn"])
@pytest.mark.parametrize("task", [CorridorTask(), CatchTask()], ids=lambda task: task.key)
def test_every_epoch_has_figures_of_the_rules_of_the_agent_that_acts(task, learner, tmp_path):
    trial = ran(tiny(task, "nfn", learner), tmp_path)
    for metrics in trial.folder.metrics():
        assert set(KEPT_FIGURES) < set(metrics.figures)
        assert 1 <= metrics.figures["leading_rules"] <= 5
    found = trial.diagnose()
    assert found == diagnose(trial.learner.actor, trial.learner.sample_observations(DIAGNOSED))
    last = trial.folder.metrics()[-1].figures
    assert {name: last[name] for name in KEPT_FIGURES} == {
        name: getattr(found, name) for name in KEPT_FIGURES
    }


def test_a_plain_agent_has_no_rules_to_tell_of(tmp_path):
    trial = ran(tiny(CorridorTask(), "dnn", "parallel_q"), tmp_path)
    assert trial.diagnose() is None
    assert not set(KEPT_FIGURES) & set(trial.folder.metrics()[-1].figures)


@pytest.mark.parametrize("agent", ["nfn", "dnn"])
def test_train_ends_with_whether_the_rules_decide(agent, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = ["train", "tests.small_game:corridor", "--agent", agent, "--epochs", "1", "--episodes", "2"]
    command += ["--steps-per-epoch", "64", "--training-games", "4", "--rollout", "8", "--batch-size", "8"]
    assert main([*command, *(["--rules", "1"] if agent == "nfn" else [])]) == 0
    printed = capsys.readouterr().out
    assert ("There is one rule, and it decides alone." in printed) == (agent == "nfn")
    assert ("1.0 leading, carry 0.00" in printed) == (agent == "nfn")
    (run,) = (tmp_path / "runs").iterdir()
    with (run / "metrics.csv").open() as file:
        (row,) = csv.DictReader(file)
    assert ("carry" in row) == (agent == "nfn")


def test_rules_of_a_run_are_followed_by_whether_they_decide(tmp_path, capsys, monkeypatch):
    run = str(ran(tiny(CorridorTask(), "nfn", "parallel_q"), tmp_path).folder.path)

    def comment(*words):
        capsys.readouterr()
        assert main(["rules", run, *words]) == 0
        return [line[2:] for line in capsys.readouterr().out.splitlines() if line.startswith("# ")]

    assert "Do the rules decide? On " in comment()[0]
    assert main(["rules", run, "--head", "value"]) == 2
    assert "is told by a plain network: only the advantage has rules" in capsys.readouterr().err
    assert main(["rules", run, "--data", "rows.csv"]) == 2
    assert "leave --data out" in capsys.readouterr().err

    def gone(*_, **__):
        raise MissingPackageError("the game is not installed")

    monkeypatch.setattr(CorridorTask, "environment", gone)
    assert "no episode can be played: the game is not installed" in comment()[0], (
        "the rules are printed still"
    )
