"""A fitted estimator where a network is asked for: the right thing where nothing is lost, else what to call."""

import warnings

import numpy as np
import pandas as pd
import pytest
import torch

import neuroplastic as npl
from neuroplastic.rules.pictures import plot_sets
from neuroplastic.rules.standards import to_fcl, to_fis, to_fml

X = pd.DataFrame(np.random.default_rng(0).normal(50, [1, 10, 100], size=(60, 3)), columns=["a", "b", "c"])


@pytest.fixture(scope="module", params=["classes", "number"])
def model(request):
    settings = {"rules": 3, "max_updates": 5, "layer_norm": False, "random_state": 0}
    if request.param == "classes":
        return npl.NeuroFuzzyClassifier(**settings).fit(X, np.where(X["a"] > 50, "high", "low"))
    return npl.NeuroFuzzyRegressor(**settings).fit(X, 3 * X["b"] + 7)


NEED_A_NETWORK = {
    "simplify": lambda model: npl.simplify(model, X, 0.1),
    "Explainer": npl.Explainer,
    "rule_base": npl.rule_base,
    "rule_bases": npl.rule_bases,
    "readability": npl.readability,
    "readabilities": npl.readabilities,
    "rule_stability": lambda model: npl.rule_stability([model, model]),
    "plot_sets": lambda model: plot_sets(None, model),
}
TAKE_IT = {
    "explain": lambda model: npl.explain(model, X),
    "diagnose": lambda model: npl.diagnose(model, X),
    "to_fml": to_fml,
    "to_fcl": to_fcl,
    "to_fis": to_fis,
    "export": lambda model: npl.export(model, "rules.fml"),
    "export to ONNX": lambda model: npl.export(model, "rules.onnx"),
}


@pytest.mark.parametrize("name", NEED_A_NETWORK)
def test_what_needs_a_network_says_what_to_call(name, model):
    with pytest.raises(
        npl.ConfigError, match=r"model\.simplify\(X, tolerance\), read model\.rules_, or take model\.network_"
    ):
        NEED_A_NETWORK[name](model)


@pytest.mark.parametrize("name", [*NEED_A_NETWORK, *TAKE_IT])
def test_an_estimator_that_is_not_fitted_is_to_be_fitted_first(name):
    with pytest.raises(npl.ConfigError, match=r"not fitted yet.*call fit\(X, y\) first"):
        {**NEED_A_NETWORK, **TAKE_IT}[name](npl.NeuroFuzzyClassifier())


def test_a_fitted_estimator_is_explained_in_its_own_units_and_names(model):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours, own = npl.explain(model, X), model.explain(X)
    assert ours.text(0) == own.text(0)
    assert np.array_equal(ours.output, own.output)
    assert "b" in ours.text(0)


@pytest.mark.parametrize("one", [X.to_numpy()[3], list(X.to_numpy()[3]), torch.tensor(X.to_numpy()[3])])
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_one_observation_is_explained(one, model):
    assert np.array_equal(npl.explain(model, one).output, model.explain(X).output[[3]])


def test_names_and_scales_beside_an_estimator_are_refused(model):
    with pytest.raises(npl.ConfigError, match="names and scales of its own"):
        npl.explain(model, X, feature_names=["a", "b", "c"])


@pytest.mark.parametrize("write", [to_fml, to_fcl, to_fis])
def test_text_of_an_estimator_or_network_is_that_of_its_rules(write, model):
    assert write(model) == write(model.rules_)
    assert write(model.network_) == write(npl.rule_base(model.network_))
    with pytest.raises(npl.ConfigError, match="a RuleBase, a network or a fitted estimator, got str"):
        write("IF a is b THEN c is 1")


def test_a_network_is_made_of_rules_alone(model):
    with pytest.raises(npl.ConfigError, match=r"model\.rules_"):
        npl.network_of(model)
