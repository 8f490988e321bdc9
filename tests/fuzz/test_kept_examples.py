"""Damage that once ended in a traceback, made again by hand: the command line answers, or says why not in a line."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from neuroplastic.cli.main import main
from neuroplastic.rules.explanations.crossing import first_crossing
from neuroplastic.rules.rule_base import Term
from tests.fuzz.__main__ import KEPT as FOUND
from tests.fuzz.cases import KINDS
from tests.fuzz.model_files import ModelFile

KEPT = Path(__file__).parents[1]
CLASSIFIER = KEPT / "learn/estimators/kept/classifier.safetensors"
HIERARCHY = KEPT / "network/kept/hierarchy.safetensors"


def filled(file, name, value):
    dtype, shape, content = file.tensors[name]
    kind = {"F64": np.float64, "F32": np.float32}[dtype]
    file.tensors[name] = dtype, shape, np.full(len(content) // kind().nbytes, value, dtype=kind).tobytes()


EXAMPLES = {
    "far offset": (CLASSIFIER, lambda f: filled(f, "estimator.offset_", 1e300)),
    "great gain": (CLASSIFIER, lambda f: filled(f, "network.kappa", 1e300)),
    "great weights": (CLASSIFIER, lambda f: filled(f, "network.consequent.weight", 1e308)),
    "small scale": (CLASSIFIER, lambda f: filled(f, "estimator.scale_", 1e-300)),
    "other names": (
        CLASSIFIER,
        lambda f: f.header["config"]["feature_names_in_"].update(values=["a", "b", "d\nd"]),
    ),
    "far sets": (HIERARCHY, lambda f: filled(f, "levels.0.antecedent.centers", 3e38)),
    "great output": (HIERARCHY, lambda f: filled(f, "levels.0.consequent.bias", 3e38)),
}


def _kept():
    return sorted(str(path.relative_to(FOUND)) for path in FOUND.glob("*/*"))


@pytest.mark.parametrize("name", _kept())
def test_files_that_once_ended_in_an_error_are_read_or_refused(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    kind = name.partition("/")[0]
    folder = Path(shutil.copytree(FOUND / name, tmp_path / kind))
    assert set(KINDS[kind].uses(folder)) <= {"fine", "refused"}


@pytest.mark.parametrize("example", EXAMPLES)
def test_commands_on_it_end_with_an_answer_or_a_line(tmp_path, capsys, example):
    source, damage = EXAMPLES[example]
    file = ModelFile.read(source)
    damage(file)
    path = str(file.write(tmp_path / "model.safetensors"))
    (tmp_path / "rows.csv").write_text("a,b,c\n0.5,1,0\n")
    for words in (["rules", path], ["explain", path, str(tmp_path / "rows.csv")]):
        code = main(words)
        said = capsys.readouterr().err
        assert code == 0 or (code == 2 and said.startswith("neuroplastic: "))


def test_a_value_far_from_a_set_does_not_belong_to_it():
    assert Term("low", 1e300, 1e-3).membership(0.0) == 0
    assert Term("low", 1e300, 1.0).membership(1e300) == 1


def test_polynomials_beyond_what_doubles_hold_cross_nowhere():
    q, v = np.array([[-1e300, 1e300, 1e300]]), np.array([[1e300, 0, 1e300, 0, 1.0]])
    with np.errstate(all="ignore"):
        first_crossing(q, np.array([1e300]), v, np.zeros(1), np.ones(1))
