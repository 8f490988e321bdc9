"""Saved estimators come back with equal predictions, and nothing in the file is a pickle."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from safetensors import safe_open
from sklearn.datasets import load_iris, make_regression
from sklearn.exceptions import NotFittedError

import neuroplastic as npl
from tests.fuzz.model_files import ModelFile

KEPT = Path(__file__).parent / "kept"
PREDICTIONS = json.loads((KEPT / "predictions.json").read_text())
QUICK = {"rules": 4, "max_updates": 20, "random_state": 0}
LABELS = {
    "text": np.array(["a", "b ü", "c'\n"]),
    "whole": np.array([-3, 10, 2**60]),
    "real": np.array([0.0, 1.0, 7.0]),
    "true": np.array([False, True, True]),
    "object": np.array(["x", "y", "z"], dtype=object),
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_reloaded_classifier_predicts_the_same_labels(tmp_path, labels):
    x, y = load_iris(return_X_y=True, as_frame=True)
    model = npl.NeuroFuzzyClassifier(**QUICK).fit(x, labels[y])
    npl.save(model, tmp_path / "model.safetensors")
    again = npl.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.predict_proba(x), model.predict_proba(x))
    assert again.predict(x).dtype == model.predict(x).dtype
    np.testing.assert_array_equal(again.predict(x), model.predict(x))
    assert again.get_params() == model.get_params()
    assert again.history_ == model.history_
    assert list(again.feature_names_in_) == list(x.columns)
    assert again.births_ == model.births_


@pytest.mark.parametrize("targets", [1, 3])
def test_reloaded_regressor_predicts_the_same_and_learns_on(tmp_path, targets):
    x, y = make_regression(80, 4, n_targets=targets, random_state=0)
    model = npl.NeuroFuzzyRegressor(**QUICK).fit(x, y)
    npl.save(model, tmp_path / "model")
    again = npl.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(x), model.predict(x))
    assert again.partial_fit(x, y).n_iter_ == model.n_iter_ + 1


def test_file_is_tensors_and_json(tmp_path):
    model = npl.NeuroFuzzyClassifier(**QUICK).fit(*load_iris(return_X_y=True))
    npl.save(model, tmp_path / "model")
    with safe_open(tmp_path / "model", framework="np") as file:
        header = json.loads(file.metadata()["neuroplastic"])
    assert header["kind"] == "NeuroFuzzyClassifier"
    assert header["config"]["parameters"]["rules"] == 4


def test_unfitted_estimator_is_not_saved(tmp_path):
    with pytest.raises(
        NotFittedError, match=r"NeuroFuzzyClassifier is not fitted yet; call fit\(X, y\) first"
    ) as error:
        npl.save(npl.NeuroFuzzyClassifier(), tmp_path / "model")
    assert isinstance(error.value, npl.NeuroplasticError)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", PREDICTIONS)
def test_files_without_a_checksum_still_load(name):
    x = np.linspace(-1, 1, 12).reshape(4, 3)
    rows = x if name == "two_targets" else pd.DataFrame(x, columns=["a", "b", "c"])
    predicted = npl.load(KEPT / f"{name}.safetensors").predict(rows).tolist()
    assert predicted == PREDICTIONS[name] or predicted == pytest.approx(PREDICTIONS[name])


@pytest.mark.parametrize("settings", [{"verbose": True}, {"growth": False}, {"layer_norm": 0, "ridge": 2}])
def test_parameters_come_back_as_they_were_given(tmp_path, settings, capsys):
    model = npl.NeuroFuzzyClassifier(**QUICK, **settings).fit(*load_iris(return_X_y=True))
    npl.save(model, tmp_path / "model")
    again = npl.load(tmp_path / "model").get_params()
    assert again == model.get_params()
    assert all(type(again[name]) is type(value) for name, value in settings.items())


def test_parameters_that_no_fit_takes_are_not_saved(tmp_path):
    model = npl.NeuroFuzzyClassifier(**QUICK).fit(*load_iris(return_X_y=True))
    with pytest.raises(npl.ConfigError, match="rules must be a whole number of at least 1, got 0"):
        npl.save(model.set_params(rules=0), tmp_path / "model")
    assert not list(tmp_path.iterdir())


def set_tensor(file, name, values):
    file.tensors[name] = "F64", [len(values)], np.array(values, dtype=np.float64).tobytes()


CLAIMS = {
    "attribute": (lambda f: fitted(f).update(predict="x"), "fitted has an unknown field 'predict'"),
    "dunder": (lambda f: fitted(f).update(__class__="x"), "fitted has an unknown field '__class__'"),
    "columns": (
        lambda f: fitted(f).update(n_features_in_=4),
        "n_features_in_ must be 3 as in the network, got 4",
    ),
    "iterations": (
        lambda f: fitted(f).update(n_iter_=-1),
        "n_iter_ must be a whole number of at least 0, got -1",
    ),
    "lacking": (lambda f: fitted(f).pop("n_iter_"), "fitted lacks the field 'n_iter_'"),
    "parameter": (lambda f: config(f)["parameters"].update(x=1), "parameters has an unknown field 'x'"),
    "type": (
        lambda f: config(f)["parameters"].update(ridge="x"),
        "parameters.ridge must be a finite number or true or false or a whole number, got 'x'",
    ),
    "range": (lambda f: config(f)["parameters"].update(ridge=-1), "ridge must be at least 0, got -1"),
    "seed": (
        lambda f: config(f)["parameters"].update(random_state=-1),
        r"random_state must lie in 0 to 2\*\*32",
    ),
    "classes": (lambda f: config(f)["classes_"]["values"].append("z"), "classes_ must have 2 values, got 3"),
    "order": (lambda f: config(f)["classes_"]["values"].reverse(), "classes_ must be in order"),
    "twice": (lambda f: config(f)["classes_"].update(values=["up", "up"]), "classes_ must be in order"),
    "mixed": (
        lambda f: config(f).update(classes_={"type": "object", "values": [1, "a"]}),
        "classes_ must be in order",
    ),
    "list": (
        lambda f: config(f)["classes_"].update(values=[[], {}]),
        "finite numbers or truth values, got a list",
    ),
    "short": (lambda f: config(f)["classes_"].update(type="<U1"), "but that type changes them"),
    "bomb": (lambda f: config(f)["classes_"].update(type="<U99999999"), "must take at most 16777216 bytes"),
    "void": (lambda f: config(f)["classes_"].update(type="|V9"), "must have a type of text, numbers"),
    "three": (lambda f: config(f)["classes_"].update(type="<i3"), "must have a type of text, numbers"),
    "none": (lambda f: config(f).pop("classes_"), "classes_ must be there for a classifier"),
    "names": (
        lambda f: config(f)["feature_names_in_"].update(values=[1, 2, 3]),
        "feature_names_in_ must be text",
    ),
    "history": (lambda f: config(f)["history"].update(losses=["x"]), r"losses\[0\] must be a finite number"),
    "consequent": (
        lambda f: config(f)["network"].update(consequent={"kind": "constant"}),
        "a tensor 'consequent.weight' that is not the network's",
    ),
    "scale": (lambda f: set_tensor(f, "estimator.scale_", [1, 0, 1]), "scale_ must be above 0"),
    "offset": (
        lambda f: set_tensor(f, "estimator.offset_", [1, np.inf, 1]),
        r"offset_ must be finite, got inf at \[1\]",
    ),
    "short offset": (
        lambda f: set_tensor(f, "estimator.offset_", [1]),
        r"must have shape \(3,\), got \(1,\)",
    ),
    "no offset": (lambda f: f.tensors.pop("estimator.offset_"), "must be offset_, scale_, got 'scale_'"),
    "strange": (lambda f: set_tensor(f, "other", [1]), "'other' that is neither the network's nor"),
    "method": (
        lambda f: set_tensor(f, "estimator.predict", [1]),
        "estimator's tensors must be offset_, scale_",
    ),
}


def config(file):
    return file.header["config"]


def fitted(file):
    return file.header["config"]["fitted"]


@pytest.mark.parametrize("claim", CLAIMS)
def test_what_no_estimator_says_of_itself_is_refused_by_name(tmp_path, claim):
    file = ModelFile.read(KEPT / "classifier.safetensors")
    change, complaint = CLAIMS[claim]
    change(file)
    path = file.write(tmp_path / "model")
    with pytest.raises(npl.StorageError, match=complaint) as caught:
        npl.load(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"n_outputs_": 3}, "n_outputs_ must be 2 as in the network, got 3"),
        ({"_one_dimensional": True}, "of one dimension must be 1"),
        ({"target_names_": ["a"]}, "target_names_ must be 2 as in the network, got 1"),
        ({"target_names_": [1, 2]}, r"target_names_\[0\] must be text"),
    ],
)
def test_targets_must_be_those_of_the_network(tmp_path, changes, complaint):
    file = ModelFile.read(KEPT / "two_targets.safetensors")
    fitted(file).update(changes)
    with pytest.raises(npl.StorageError, match=complaint):
        npl.load(file.write(tmp_path / "model"))


def test_a_row_without_a_finite_output_is_no_class():
    file = npl.load(KEPT / "classifier.safetensors")
    file.network_.weight.data[:] = 1e300
    rows = pd.DataFrame(np.full((2, 3), 1e30), columns=["a", "b", "c"])
    with pytest.raises(npl.InputError, match="row 0 has no finite output"):
        file.predict(rows)
