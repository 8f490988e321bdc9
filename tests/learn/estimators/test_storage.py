"""Saved estimators come back with equal predictions, and nothing in the file is a pickle."""

import json

import numpy as np
import pytest
from safetensors import safe_open
from sklearn.datasets import load_iris, make_regression
from sklearn.exceptions import NotFittedError

import neuroplastic as npl

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
