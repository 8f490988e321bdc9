"""Words that estimators use for their sets: true of the data, one's own, kept by simplifying and by files."""

import copy

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

import neuroplastic as npl
from neuroplastic.network.starting import HALF

WORDS = {"petal length": ("short", "long")}


@pytest.fixture(scope="module")
def flowers():
    x, y = load_iris(return_X_y=True, as_frame=True)
    return x.rename(columns=lambda name: name.removesuffix(" (cm)")), load_iris().target_names[y]


@pytest.fixture(scope="module")
def model(flowers):
    return npl.NeuroFuzzyClassifier(rules=5, max_updates=60, random_state=0, words=WORDS).fit(*flowers)


def names(rules):
    return {(v.name, t.center, t.width): t.name for v in rules.inputs for t in v.terms}


def test_low_means_low_among_the_rows_of_the_fit(model, flowers):
    x, _ = flowers
    for variable in model.rules_.inputs:
        for term in variable.terms:
            below = (x[variable.name] < term.center - HALF * term.width).mean()
            above = (x[variable.name] > term.center + HALF * term.width).mean()
            word = term.name.split(" (")[0]
            if word in ("low", "very low", "short", "very short", "not high", "not long"):
                assert below <= 0.12
                assert above > 0.05
            if word in ("high", "very high", "long", "very long", "not low", "not short"):
                assert above <= 0.12
                assert below > 0.05
            if word.startswith(("between", "at most", "at least")):
                assert below + above <= 0.15


def test_words_of_ones_own_are_in_rules_and_explanations(model, flowers):
    asked = [term.name for term in model.rules_.inputs[2].terms]
    assert any("short" in word or "long" in word for word in asked)
    assert not any("low" in word.split() or "high" in word.split() for word in asked)
    told = model.explain(flowers[0].iloc[:1]).text(0)
    assert any(f"petal length is {word} (" in told for word in asked)


def test_words_can_be_chosen_after_the_fit_and_are_copied_by_clone(model, flowers):
    assert clone(model).words == WORDS
    renamed = clone(model).fit(*flowers).set_params(words={"petal length": ("tiny", "huge")})
    text = str([term.name for term in renamed.rules_.inputs[2].terms])
    assert "tiny" in text or "huge" in text


def test_words_for_what_is_no_column_are_refused_with_the_nearest_one(model, flowers):
    wrong = {"petal lenght": ("short", "long")}
    with pytest.raises(npl.ConfigError, match="no column; did you mean 'petal length'"):
        clone(model).set_params(words=wrong).fit(*flowers)
    renamed = copy.deepcopy(model).set_params(words=wrong)
    with pytest.raises(npl.ConfigError, match="no column; did you mean 'petal length'"):
        renamed.rules_  # noqa: B018
    with pytest.raises(npl.ConfigError, match="two words"):
        clone(model).set_params(words={"petal length": ("short",)}).fit(*flowers)
    with pytest.raises(npl.ConfigError, match="words must map"):
        clone(model).set_params(words=["short"]).fit(*flowers)


def test_words_for_a_constant_column_do_no_harm(flowers):
    x = flowers[0].assign(planet=3.0)
    with pytest.warns(npl.ColumnWarning):
        model = npl.NeuroFuzzyClassifier(rules=2, max_updates=5, words={"planet": ("near", "far")}).fit(
            x, flowers[1]
        )
    assert len(model.rules_) == 2


@pytest.mark.parametrize("tolerance", [0.0, 0.02, 0.3])
def test_simplifying_keeps_the_words_of_the_sets_that_stay(model, flowers, tolerance):
    simpler, _ = model.simplify(flowers[0], tolerance)
    before, after = names(model.rules_), names(simpler.rules_)
    assert after
    stayed = {
        (variable, center): word
        for (variable, center, width), word in after.items()
        for (other, old, old_width), _ in before.items()
        if variable == other and np.isclose(center, old) and np.isclose(width, old_width)
    }
    if tolerance == 0:
        assert stayed
    for (variable, center), word in stayed.items():
        assert word in [
            old for (other, at, _), old in before.items() if other == variable and np.isclose(center, at)
        ]


def test_words_may_still_change_after_simplifying(model, flowers):
    simpler, _ = model.simplify(flowers[0], 0.0)
    (before,) = (variable for variable in simpler.rules_.inputs if variable.name == "petal length")
    simpler.set_params(words={"petal length": ("tiny", "huge")})
    (after,) = (variable for variable in simpler.rules_.inputs if variable.name == "petal length")
    assert [term.name for term in after.terms] == [
        term.name.replace("short", "tiny").replace("long", "huge") for term in before.terms
    ]
    assert after != before


def test_words_of_a_column_of_two_values_stay_after_simplifying():
    rng = np.random.default_rng(0)
    x = pd.DataFrame({"sex": rng.integers(0, 2, 120), "age": rng.integers(18, 80, 120)})
    y = (x["sex"] == 1) ^ (x["age"] > 50)
    fitted = npl.NeuroFuzzyClassifier(
        rules=4, max_updates=40, random_state=0, words={"sex": ("female", "male")}
    )
    simpler, _ = fitted.fit(x, y).simplify(x, 0.0)
    asked = {term.name for term in simpler.rules_.inputs[0].terms}
    assert asked
    assert asked <= {term.name for term in fitted.rules_.inputs[0].terms}


def test_names_survive_a_file_and_old_files_have_names_by_order(model, flowers, tmp_path):
    simpler, _ = model.simplify(flowers[0], 0.02)
    for number, one in enumerate((model, simpler)):
        npl.save(one, tmp_path / f"{number}.safetensors")
        again = npl.load(tmp_path / f"{number}.safetensors")
        assert again.rules_.json() == one.rules_.json()
        assert {key: tuple(given) for key, given in again.words.items()} == WORDS
    old = clone(model).fit(*flowers)
    old.quantiles_ = None
    assert old.rules_.inputs[0].terms[0].name in ("low", "very low", "extremely low")
    npl.save(old, tmp_path / "old.safetensors")
    assert npl.load(tmp_path / "old.safetensors").rules_.json() == old.rules_.json()


def test_crisp_categories_keep_their_names():
    rng = np.random.default_rng(0)
    x = pd.DataFrame(
        {"left": rng.choice(["red", "blue"], 80), "right": rng.choice(["red", "green", "any"], 80)}
    )
    fitted = npl.NeuroFuzzyClassifier(rules=4, max_updates=20, random_state=0).fit(x, x["left"] == x["right"])
    left, right = fitted.rules_.inputs[0], next(v for v in fitted.rules_.inputs if v.name == "right")
    assert [term.name for term in left.terms] == ["blue", "red"]
    assert {term.name for term in right.terms} <= {"any of them", "green", "red"}
