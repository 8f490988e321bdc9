"""Sizes that no machine has room for are refused by name before anything is allocated."""

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest
import torch

import neuroplastic as npl
from neuroplastic.cli.main import main
from neuroplastic.errors import ConfigError
from neuroplastic.experiment.configuration import TrialProtocol
from neuroplastic.experiment.options import with_values
from neuroplastic.experiment.run_folder import RunFolder
from neuroplastic.experiment.tasks import find_task, preset_of
from neuroplastic.experiment.trial import Trial
from neuroplastic.network.dueling import dnn_head

TEACHER = "tests.kills.victims:balance"
AGENT = Path(__file__).parents[1] / "kept" / "v0_1" / "runs" / "finished" / "BP-nfn-tuned-seed3"


@pytest.mark.parametrize("size", [2**31, 10**30])
@pytest.mark.parametrize(
    ("learner", "option"),
    [
        ("dqn", "memory_size"),
        ("parallel_q", "rollout"),
        ("dqn", "rules"),
        ("dqn", "max_terms"),
        ("dqn", "plain_value"),
    ],
)
def test_run_that_would_need_more_memory_than_there_is_is_refused_with_the_estimate(
    tmp_path, learner, option, size
):
    config = with_values(preset_of(find_task("CartPole-v1"), None, "nfn", learner), {option: size})
    with pytest.raises(ConfigError, match=r"would need .*B, this machine has"):
        Trial(config, RunFolder(tmp_path))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("size", [4097, 2**31, 10**30])
def test_more_games_processes_and_frames_than_any_system_has_are_refused(size):
    with pytest.raises(ConfigError, match="games must be at most 4096"):
        TrialProtocol(games=size)
    with pytest.raises(ConfigError, match="processes must be at most 4096"):
        TrialProtocol(processes=size)
    config = preset_of(find_task("CartPole-v1"), None, "nfn", "parallel_q")
    with pytest.raises(ConfigError, match="training_games must be at most 4096"):
        dataclasses.replace(config.learner, training_games=size)
    with pytest.raises(ConfigError, match="frame_stack must be at most 1000"):
        dataclasses.replace(config.task, frame_stack=size)


@pytest.mark.parametrize(
    "words",
    [
        ("imitate", "--teacher", TEACHER, "--states", 10**14),
        ("imitate", "--teacher", TEACHER, "--rounds", 10**14),
        ("imitate", "--teacher", TEACHER, "--episodes", 10**14),
        ("record-play", TEACHER, "--out", "played", "--episodes", 10**14),
        ("train", "--episodes", 10**14),
        ("train", "--rules", 10**12),
        ("evaluate", "--episodes", 10**14),
    ],
    ids=lambda words: f"{words[0]} {words[-2]}",
)
def test_a_command_whose_work_no_memory_holds_is_refused_by_the_name_of_the_option(
    words, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    task = {"record-play": ("--task", "CartPole-v1"), "evaluate": (str(AGENT),)}.get(
        words[0], ("CartPole-v1",)
    )
    assert main([words[0], *task, *map(str, words[1:])]) == 2
    said = capsys.readouterr().err
    option = words[-2].removeprefix("--")
    assert re.search(rf"{option}=\d+.* would need .*B, this machine has|{option} must be at most", said)
    assert said.count("\n") == 1
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_batch_that_no_memory_holds_is_refused_and_leaves_no_run(tmp_path, monkeypatch, capsys):
    pytest.importorskip("minari", reason="recordings are its")
    monkeypatch.chdir(tmp_path)
    assert main(["record-play", TEACHER, "--task", "CartPole-v1", "--episodes", "1", "--out", "played"]) == 0
    for option in ("--batch-size", "--rules", "--max-terms"):
        assert main(["offline", "CartPole-v1", "--data", "played", option, str(10**13)]) == 2
        assert "would need" in capsys.readouterr().err
    assert not list((tmp_path / "runs").iterdir())


def test_rules_of_a_readable_model_are_never_more_than_its_rows():
    pytest.importorskip("sklearn", reason="estimators are of its kind")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] > 0, "yes", "no")
    sizes = [{"max_rules": many, "max_size": many} for many in (60, 10**15)]
    few, many = (npl.NeuroFuzzyClassifier(readable=True, **size).fit(X, y) for size in sizes)
    assert (few.predict(X) == many.predict(X)).all()


def test_heads_without_memory_may_be_of_any_size_that_a_tensor_can_have():
    with torch.device("meta"):
        assert dnn_head(4, 2, 2**20, "ReLU")[0].weight.is_meta
