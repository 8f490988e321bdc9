"""Files of earlier versions are read by this one and mean the same; kept/v0_1/README.md says how they were made."""

import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.numpy import load_file

import neuroplastic as npl
from neuroplastic.cli.main import main
from tests.kept.comparing import check_table, config_of, digests_of, rows_of
from tests.kept.plain import PLAIN

HERE = Path(__file__).parent
KEPT = HERE / "kept" / "v0_1"
FINISHED, UNFINISHED = KEPT / "runs" / "finished", KEPT / "runs" / "unfinished"
BP_NFN, BP_DNN, DTC_NFN = "BP-nfn-tuned-seed3", "BP-dnn-paper-seed6", "DTC-nfn-paper-seed7"
CHEAP = [
    "--workers",
    "1",
    "--objective",
    "neuroplastic.study.cheap:bowl",
    "--epochs",
    "20",
    "--episodes",
    "3",
]

needs_game = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("vizdoom", "gymnasium", "cv2")),
    reason="the run is one of DOOM, and ViZDoom is not installed: pip install 'neuroplastic[doom]'",
)


@pytest.fixture
def says(capsys, monkeypatch, tmp_path):
    """Runs a command in a fresh folder and gives what it printed; it must succeed."""
    monkeypatch.chdir(tmp_path)

    def run(*words: object) -> str:
        capsys.readouterr()
        code = main([str(word) for word in words])
        printed = capsys.readouterr()
        assert code == 0, printed.err
        return printed.out

    return run


@pytest.fixture
def storage(tmp_path):
    """A copy of the kept studies that may be written to."""
    return shutil.copy(KEPT / "studies" / "studies.db", tmp_path / "studies.db")


def about(name: str) -> dict:
    return json.loads((KEPT / "models" / f"{name}.json").read_text())


# Models


@pytest.mark.parametrize(("name", "error"), [("network", 1e-5), ("hierarchy", 1e-10), ("mamdani", 1e-10)])
def test_kept_network_computes_what_it_did(name, error):
    net, kept = npl.load(KEPT / "models" / f"{name}.safetensors").eval(), about(name)
    inputs = torch.tensor(kept["inputs"], dtype=next(net.parameters()).dtype)
    np.testing.assert_allclose(net(inputs).tolist(), kept["outputs"], rtol=error, atol=error)


def test_kept_network_remembers_its_births_its_frozen_rules_and_its_words():
    net, kept = npl.load(KEPT / "models" / "network.safetensors"), about("network")
    assert [vars(birth) for birth in net.births] == kept["births"]
    assert json.loads(json.dumps(net.frozen)) == kept["frozen"]
    rules = npl.rule_base(net)
    assert [variable.name for variable in rules.inputs] == kept["vocabulary"]["features"]
    assert [term.name for term in rules.inputs[1].terms] == kept["vocabulary"]["terms"]["humidity"]


@pytest.mark.parametrize("name", ["classifier", "regressor"])
def test_kept_estimator_predicts_what_it_did(name):
    model, kept = npl.load(KEPT / "models" / f"{name}.safetensors"), about(name)
    rows = pd.DataFrame(kept["inputs"], columns=kept["columns"])
    if name == "classifier":
        assert model.predict(rows).tolist() == kept["outputs"]
        np.testing.assert_allclose(model.predict_proba(rows), kept["probabilities"], rtol=1e-5, atol=1e-7)
    else:
        np.testing.assert_allclose(model.predict(rows), kept["outputs"], rtol=1e-5)


def test_kept_model_of_a_table_predicts_explains_and_tells_its_rules(says, tmp_path):
    model, data = KEPT / "table" / "model", KEPT / "table" / "data.csv"
    says("predict", model, data, "--out", "made.csv")
    check_table(tmp_path / "made.csv", KEPT / "table" / "predictions.csv", digits=1e-5)
    assert says("rules", model).count("THEN") == 4
    assert "lime" in says("explain", model, data, "--row", 2)


# Rules


@pytest.mark.parametrize("ending", ["json", "txt", "fml", "fcl", "fis"])
def test_kept_rules_are_read_back_and_compute_the_same(ending):
    kept, path = about("network"), KEPT / "rules" / f"fan.{ending}"
    from_json = npl.RuleBase.from_json((KEPT / "rules" / "fan.json").read_text())
    if ending == "json":
        rules = from_json
    elif ending == "txt":
        rules = npl.RuleBase.from_text(path.read_text(), from_json.inputs, firing=from_json.firing)
    else:
        rules = npl.import_rules(path)
    net = npl.network_of(rules, dtype=torch.float64).eval()
    outputs = net(torch.tensor(kept["inputs"], dtype=torch.float64)).tolist()
    np.testing.assert_allclose(outputs, kept["outputs"], rtol=1e-5)


def test_rules_of_a_kept_network_are_exported_as_before(says, tmp_path):
    says("rules", KEPT / "models" / "network.safetensors", "--out", "fan.csv")
    check_table(tmp_path / "fan.csv", KEPT / "rules" / "fan.csv", digits=1e-5)


# Runs


@pytest.mark.parametrize(("folder", "done"), [(UNFINISHED, "1/2"), (FINISHED, "2/2")])
def test_kept_runs_are_listed_with_their_figures(says, folder, done):
    lines = {line.split()[0]: line.split() for line in says("runs", "--runs", folder).splitlines()}
    for name in (BP_NFN, BP_DNN, DTC_NFN):
        metrics = rows_of(folder / name / "metrics.csv")
        assert done in lines[name]
        assert f"{max(float(row['mean']) for row in metrics):.2f}" in lines[name]
        assert metrics[-1]["steps"] in lines[name]


@needs_game
@pytest.mark.parametrize(
    ("run", "which", "epoch"),
    [
        (UNFINISHED / BP_NFN, "best", 1),
        (FINISHED / BP_NFN, "best", 2),
        (FINISHED / BP_DNN, "last", 2),
        (FINISHED / DTC_NFN, "best", 1),
    ],
)
def test_network_of_a_kept_run_plays_as_it_did(says, run, which, epoch):
    mean = float(rows_of(run / "metrics.csv")[epoch - 1]["mean"])
    assert f": {mean:.2f} +- " in says("evaluate", run, "--which", which, "--episodes", 1)


def test_rules_of_a_kept_run_are_those_of_its_network(says, tmp_path):
    says("rules", FINISHED / BP_NFN, "--head", "value", "--out", "value.json")
    rules = npl.RuleBase.from_json((tmp_path / "value.json").read_text())
    kept = load_file(FINISHED / BP_NFN / "best.safetensors")
    assert len(rules.inputs) == 1600
    net = npl.network_of(rules)
    np.testing.assert_allclose(net.bias.detach(), kept["value.levels.0.consequent.bias"], rtol=1e-5)
    np.testing.assert_allclose(net.weight.detach(), kept["value.levels.0.consequent.weight"], rtol=1e-5)


def test_rules_of_a_kept_run_with_levels_are_told_level_by_level(says):
    told = says("rules", FINISHED / DTC_NFN).splitlines()
    assert sum(line.count("THEN") for line in told if not line.startswith("#")) == 2 * 3


@needs_game
@pytest.mark.parametrize(
    "name", [BP_NFN, DTC_NFN]
)  # the plain run drops units, which the compiled kernel draws anew
def test_kept_run_that_is_resumed_ends_where_the_earlier_version_did(says, tmp_path, name):
    shutil.copytree(UNFINISHED / name, tmp_path / name)
    assert "after step 18" in says("train", "--resume", name)
    for table in ("metrics.csv", "returns.csv", "births.csv"):
        check_table(tmp_path / name / table, FINISHED / name / table, digits=1e-3)
    new, kept = (load_file(folder / name / "best.safetensors") for folder in (tmp_path, FINISHED))
    for key in kept:
        if not key.endswith("_extra_state"):
            np.testing.assert_allclose(new[key], kept[key], rtol=1e-3, atol=1e-5, err_msg=key)


@pytest.fixture(scope="module")
def resumed(tmp_path_factory):
    """All kept runs, resumed in plain arithmetic: their folder, how this machine computes, and the complaints."""
    folder = tmp_path_factory.mktemp("resumed")
    shutil.copytree(UNFINISHED, folder, dirs_exist_ok=True)
    ended = subprocess.run(
        [sys.executable, HERE / "kept" / "plain.py", BP_NFN, BP_DNN, DTC_NFN],
        cwd=folder,
        env={**os.environ, **PLAIN, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr
    return folder, ended.stdout.split()[1], ended.stderr


@needs_game
@pytest.mark.slow  # in plain arithmetic, without the kernel
@pytest.mark.parametrize("name", [BP_NFN, BP_DNN, DTC_NFN])
def test_kept_run_that_is_resumed_ends_bit_for_bit_where_the_earlier_version_did(resumed, name):
    folder, arithmetic, complaints = resumed
    ends = json.loads((KEPT / "runs" / "ends.json").read_text())
    if arithmetic != ends["arithmetic"]:
        pytest.skip("this processor or this PyTorch rounds otherwise than where the kept ends were made")
    assert "played again" not in complaints, "the game did not repeat an episode"
    for table in ("metrics.csv", "returns.csv", "births.csv"):
        check_table(folder / name / table, FINISHED / name / table)
    assert set(ends[name].values()) <= digests_of(folder / name / "checkpoints")
    best = load_file(FINISHED / name / "best.safetensors")
    again = load_file(folder / name / "best.safetensors")
    assert all(np.array_equal(again[key], best[key]) for key in best if not key.endswith("_extra_state"))


# Presets


@needs_game
@pytest.mark.parametrize("agent", ["dnn", "nfn"])
def test_kept_preset_sets_what_it_did(says, tmp_path, agent):
    short = {"epochs": 1, "steps_per_epoch": 1, "episodes": 1, "picture": "fast"}
    fields = [word for name, value in short.items() for word in (f"--{name.replace('_', '-')}", value)]
    preset = KEPT / "presets" / f"BP-{agent}.json"
    says("train", "BP", "--agent", agent, "--preset", preset, "--runs", "made", *fields)
    (made,) = (tmp_path / "made").iterdir()
    assert {**config_of(made / "config.json"), **config_of(preset), **short} == config_of(
        made / "config.json"
    )


# Studies


def test_kept_studies_show_their_state_and_their_best_trials(says, storage, tmp_path):
    status = says("study", "status", "--storage", storage)
    assert "BP-dnn: 6/6 complete" in status
    assert "BP-nfn: 3/6 complete" in status
    assert "PP-dnn: 1/1 complete" in status
    for study in ("BP-dnn", "BP-nfn"):
        preset = KEPT / "presets" / f"{study}.json"
        origin = json.loads(preset.read_text())["origin"]
        best = says("study", "best", study, "--storage", storage)
        assert f"trial {origin['trial']}: mean {origin['mean']:.2f}, SD {origin['sd']:.2f}" in best
        says("study", "export", study, "--storage", storage, "--csv", "made.csv", "--preset", f"{study}.json")
        check_table(tmp_path / "made.csv", KEPT / "studies" / f"{study}.csv")
        (tmp_path / "made.csv").unlink()
        made = config_of(tmp_path / f"{study}.json")
        assert {**made, **config_of(preset)} == made


def test_kept_study_that_is_continued_gets_the_trials_that_the_earlier_version_made(says, storage, tmp_path):
    printed = says(
        *("study", "run", "--task", "BP", "--agent", "nfn", "--trials", 6, "--storage", storage, *CHEAP)
    )
    assert "best of 6 finished trials" in printed
    says("study", "export", "BP-nfn", "--storage", storage, "--csv", "made.csv")
    check_table(
        tmp_path / "made.csv",
        KEPT / "studies" / "BP-nfn-ended.csv",
        leave_out=("trial", "seconds", "protocol"),
    )


@needs_game
def test_kept_study_of_the_game_is_continued_by_the_same_command(says, storage, tmp_path):
    short = ["--workers", 1, "--epochs", 1, "--steps-per-epoch", 4, "--episodes", 2, "--picture", "fast"]
    says("study", "run", "--task", "PP", "--agent", "dnn", "--trials", 2, "--storage", storage, *short)
    says("study", "export", "PP-dnn", "--storage", storage, "--csv", "made.csv")
    check_table(tmp_path / "made.csv", KEPT / "studies" / "PP-dnn-ended.csv", leave_out=("seconds",))


@pytest.mark.slow
def test_kept_studies_are_reported(says, storage, tmp_path):
    says("report", storage, "--out", "report")
    page = (tmp_path / "report" / "index.html").read_text()
    for study in ("BP-dnn", "BP-nfn"):
        mean = json.loads((KEPT / "presets" / f"{study}.json").read_text())["origin"]["mean"]
        assert f">{mean:.2f}<" in page
