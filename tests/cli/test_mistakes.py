"""What the command line says to mistakes: one line that names the fix, exit code 2, nothing written."""

import os
import subprocess
import sys

import pytest
import torch
from safetensors.torch import save_file

import neuroplastic as npl
from neuroplastic.cli.main import main, parser
from neuroplastic.cli.train import field_help

ROWS = [(k % 7, k % 5) for k in range(40)]
FILES = {
    "classes.csv": "a,b,y\n" + "\n".join(f"{a},{b},{'high' if a > 3 else 'low'}" for a, b in ROWS),
    "numbers.csv": "a,b,y\n" + "\n".join(f"{a},{b},{k + 0.5}" for k, (a, b) in enumerate(ROWS)),
    "one word.csv": "a,b,y\n"
    + "\n".join(f"{a},{b},{k if k != 7 else 'many'}" for k, (a, b) in enumerate(ROWS)),
    "one row.csv": "a,b,y\n1,2,x\n",
    "three rows.csv": "a,y\n1,0.5\n2,1.5\n3,2.5\n",
    "rare.csv": "a,b,y\n1,2,x\n2,3,x\n4,5,z\n",
    "few labels.csv": "a,b,y\n" + "\n".join(f"{k},1,{f'kind {k}' if k < 30 else ''}" for k in range(200)),
    "ragged.csv": "a,b,y\n1,2,3\n1,2,3,4,5\n",
    "empty.csv": "",
    "header.csv": "a,b,y\n",
    "text.csv": "a,b\nred,1\n",
    "no model.safetensors": "no model",
    "half/columns.json": '{"format": 1, "target": "y", "classes": true, "inputs": []}',
    "full/thing.txt": "kept",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with files that are right, and more that are not."""
    place = tmp_path_factory.mktemp("mistakes")
    for name, content in FILES.items():
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text(content)
    (place / "latin.csv").write_bytes("größe,y\n1,2\n".encode("latin-1"))
    save_file({"w": torch.zeros(2)}, place / "foreign.safetensors")
    npl.save(npl.NeuroFuzzyNetwork(2, 2, rules=2), place / "net.safetensors")
    return place


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ([], "neuroplastic needs COMMAND; see: neuroplastic --help"),
        (["--verison"], "unknown option --verison; did you mean '--version'?"),
        (["fti", "classes.csv"], "did you mean 'fit'?"),
        (["predcit", "m", "classes.csv"], "did you mean 'predict'?"),
        (["study"], "study needs ACTION"),
        (["study", "rnu"], "did you mean 'run'?"),
        (["study", "run", "--task", "BP"], "run needs --agent"),
        (["study", "run", "--task", "BP", "--agent", "dnn", "--trails", "3"], "did you mean '--trials'?"),
        (["study", "run", "--task", "BP", "--agent", "dnn", "--epochs", "few"], "epochs must be a whole"),
        (["fit"], "fit needs FILE, --target"),
        (["fit", "classes.csv", "--traget", "y"], "did you mean '--target'?"),
        (["fit", "classes.csv", "-target", "y"], "did you mean '--target'?"),
        (["fit", "classes.csv", "--target"], "--target needs a value"),
        (["fit", "classes.csv", "numbers.csv", "--target", "y"], "'numbers.csv' is one word too many"),
        (["fit", "classes.csv", "--target", "y", "--task", "clases"], "did you mean 'classes'?"),
        (
            ["fit", "classes.csv", "--target", "y", "--rules", "0"],
            "--rules must be a whole number of at least 1",
        ),
        (["fit", "classes.csv", "--target", "y", "--folds", "x"], "--folds must be a whole number"),
        (["fit", "nowhere.csv", "--target", "y"], "nowhere.csv does not exist"),
        (["fit", "full", "--target", "y"], "full is a folder"),
        (["fit", "classes.csv", "--target", "Y"], "no column 'Y'; did you mean 'y'?"),
        (["fit", "classes.csv", "--target", "y", "--ignore", "y"], "is the target"),
        (["fit", "classes.csv", "--target", "y", "--task", "number"], "'y' holds 'low' in row 1"),
        (["fit", "one word.csv", "--target", "y"], "98% of the rows, but 'many' in row 8"),
        (["fit", "one row.csv", "--target", "y"], "at least 2 rows"),
        (["fit", "three rows.csv", "--target", "y"], "at least 4 rows to be cross-validated, but 'y' has 3"),
        (["fit", "rare.csv", "--target", "y"], "class 'z' of 'y' has only one row"),
        (["fit", "few labels.csv", "--target", "y"], "class 'kind 0' of 'y' has only one row"),
        (["fit", "ragged.csv", "--target", "y"], "Expected 3 fields in line 3, saw 5"),
        (["fit", "empty.csv", "--target", "y"], "empty.csv is empty"),
        (["fit", "header.csv", "--target", "y"], "no rows below its header"),
        (["fit", "latin.csv", "--target", "y"], "save it as UTF-8"),
        (["fit", "classes.csv", "--target", "y", "--out", "text.csv"], "text.csv is not a folder"),
        (["fit", "classes.csv", "--target", "y", "--out", "text.csv/model"], "cannot be made"),
        (["fit", "classes.csv", "--target", "y", "--out", "full"], "not overwritten"),
        (["fit", "classes.csv", "--target", "y", "--out", "/"], "--out"),
        (["fit", "classes.csv", "--target", "y", "--out", "full", "--force"], "something else than a report"),
        (["predict", "nowhere", "classes.csv"], "not a model folder"),
        (["predict", "half", "classes.csv"], "half/estimator.safetensors"),
        (["predict", "half", "classes.csv", "--out", "no/p.csv"], "there is no folder no"),
        (["rules", "nowhere"], "nowhere does not exist; give a folder made by `neuroplastic fit`"),
        (["rules", "dtc"], "did you mean 'DTC', an agent in the box?"),
        (["evaluate", "DTC-studnt"], "did you mean 'DTC-student', an agent in the box?"),
        (["play", "gh"], "did you mean 'GH', an agent in the box?"),
        (["rules", "full"], "neither a model nor a run"),
        (["rules", "no model.safetensors"], "not a readable safetensors file"),
        (["rules", "foreign.safetensors"], "no neuroplastic header"),
        (["rules", "net.safetensors", "--head", "value"], "--head is for runs"),
        (["rules", "half", "--which", "last"], "--which is for runs"),
        (["explain", "net.safetensors", "text.csv", "--which", "best"], "--which is for runs"),
        (["rules", "net.safetensors", "--exat"], "did you mean '--exact'?"),
        (["rules", "net.safetensors", "--exact", "--out", "rules.csv"], "--exact is for rules as text"),
        (["rules", "net.safetensors", "--out", "rules.doc"], "'.txt'"),
        (["rules", "net.safetensors", "--out", "no/rules.txt"], "there is no folder no"),
        (["rules", "net.safetensors", "--out", "rules.fis"], "layer_norm"),
        (["explain", "net.safetensors"], "give the FILE"),
        (["explain", "net.safetensors", "text.csv"], "as numbers"),
        (["explain", "net.safetensors", "text.csv", "--row", "0"], "--row must be"),
        (["explain", "net.safetensors", "text.csv", "--decision", "3"], "are for runs"),
        (["explain", "net.safetensors", "text.csv", "--picture", "why.doc"], "'.png'"),
        (["evaluate", "nowhere", "--which", "bets"], "did you mean 'best'?"),
        (["record", "nowhere", "--episode", "-1"], "--episode must be a whole number of at least 0"),
        (["train", "BP", "--agnet", "dnn"], "did you mean '--agent'?"),
        (["train", "BP", "--seconds", "-1"], "--seconds must be a number above 0"),
        (["train", "BP", "--threads", "two"], "--threads must be a whole number"),
        (["report"], "give STUDIES"),
        (["report", "--papre"], "did you mean '--paper'?"),
        (["report", "nowhere.db"], "there is no study at nowhere.db"),
    ],
)
def test_mistake_gets_one_line_that_names_the_fix(words, complaint, folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    before = sorted(folder.rglob("*"))
    assert main(words) == 2
    error = capsys.readouterr().err
    assert complaint in error
    assert error.count("\n") == 1
    assert error.startswith("neuroplastic: ")
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["fit", "--help"], ["study", "rnu"], ["fit"]])
def test_help_and_mistakes_do_not_wait_for_torch(words):
    code = f"""
import sys
from neuroplastic.cli.main import main

try:
    main({words!r})
except SystemExit:
    pass
sys.exit(any(heavy in sys.modules for heavy in ("torch", "numpy", "pandas", "vizdoom", "optuna")))
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0


@pytest.mark.parametrize("words", [["runs"], ["rules", "net.safetensors"], ["fit", "--help"], ["--version"]])
def test_output_that_nobody_reads_ends_a_command_quietly(words, folder, capsys, monkeypatch):
    """As in `neuroplastic runs | true`."""
    monkeypatch.chdir(folder)
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as gone, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", gone)
        assert main(words) == 0
    assert capsys.readouterr().err == ""


def test_a_pipe_that_breaks_elsewhere_is_no_success(folder, capsys, monkeypatch):
    def broken(*_: object, **__: object) -> None:
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr("neuroplastic.cli.rules.open_anything", broken)
    assert main(["rules", str(folder / "net.safetensors")]) == 2
    assert "Broken pipe" in capsys.readouterr().err


def test_missing_package_of_a_table_is_named_with_its_extra(folder, fresh_python):
    code = f"""
import sys

sys.modules["pandas"] = None
from neuroplastic.cli.main import main

sys.exit(main(["fit", {str(folder / "classes.csv")!r}, "--target", "y"]))
"""
    done = fresh_python(code, check=False)
    assert done.returncode == 2
    assert "pip install 'neuroplastic[table]'" in done.stderr
    assert done.stderr.count("\n") == 1


def test_no_option_of_train_is_called_like_a_field_of_the_configuration():
    commands = next(action for action in parser()._actions if isinstance(action.choices, dict))
    fields = {line.split()[0] for line in field_help().splitlines() if line.startswith("  --")}
    assert {"--start", "--rules", "--epochs"} <= fields
    assert {"--things", "--consequent-rank", "--clip"} <= fields, "those of every kind"
    assert not fields & set(commands.choices["train"]._option_string_actions)


def test_a_port_that_there_is_none_of_is_refused(capsys):
    assert main(["studio", "--port", "99999", "--no-browser"]) == 2
    assert "port must be at most 65535, got 99999" in capsys.readouterr().err
