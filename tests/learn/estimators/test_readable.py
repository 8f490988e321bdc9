"""Readable estimators: few short rules that carry the decision, within hard limits, in every way an estimator."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier

import neuroplastic as npl
from neuroplastic.learn.estimators.readable.draft import Draft
from neuroplastic.network.starting import HALF


def table(load):
    """A table of scikit-learn's as a data frame, with the classes' names."""
    data = load(as_frame=True)
    return data.data, pd.Series(data.target_names[data.target]) if "target_names" in data else data.target


def size_of(model):
    """Premises of each rule that ask something."""
    return (model.rules_.premises >= 0).sum(axis=1)


@pytest.fixture(scope="module")
def cancer():
    X, y = table(load_breast_cancer)
    return X, y, npl.NeuroFuzzyClassifier(readable=True, random_state=0).fit(X, y)


def test_iris_is_told_in_sentences_that_a_person_would_write():
    X, y = table(load_iris)
    X.columns = [name.removesuffix(" (cm)") for name in X.columns]
    text = npl.NeuroFuzzyClassifier(readable=True, random_state=0).fit(X, y).rules_.text()
    assert len(text.splitlines()) <= 4
    assert any(": IF petal" in line and "THEN setosa (100 %, 50 cases)" in line for line in text.splitlines())


def test_rules_are_few_and_short_and_decide_and_fit(cancer):
    X, y, model = cancer
    found = model.diagnose(X)
    assert model.score(X, y) > 0.93
    assert size_of(model).sum() <= 40
    assert size_of(model).max() <= 4
    assert found.fit > 0.9
    assert found.carry > 0.2
    assert found.rules_per_decision < 3


def test_cases_are_all_rows_and_shares_those_of_the_classes(cancer):
    X, y, model = cancer
    evidence = model.rules_.evidence
    assert evidence.cases.sum() == len(X) == evidence.rows
    led = evidence.cases > 0
    np.testing.assert_allclose(evidence.shares[led].sum(axis=1), 1)
    np.testing.assert_allclose(
        evidence.cases @ evidence.shares, [(y == name).sum() for name in model.classes_]
    )


def test_cases_are_rows_as_they_are_whatever_their_classes_weigh():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"debt": rng.gamma(2.0, 1000, 300), "age": rng.integers(18, 80, 300)})
    y = pd.Series(np.where(X["debt"] + rng.normal(0, 500, 300) > 5000, "fails", "paid"))
    model = npl.NeuroFuzzyClassifier(readable=True, class_weight="balanced", max_updates=40, random_state=0)
    evidence = model.fit(X, y).rules_.evidence
    assert evidence.cases.tolist() == evidence.cases.round().tolist()
    assert evidence.cases.sum() == evidence.rows == 300
    np.testing.assert_allclose(
        evidence.cases @ evidence.shares, [(y == name).sum() for name in model.classes_]
    )


def test_rules_that_ask_for_the_same_become_one_that_says_what_they_said_on_average():
    premises = np.array([[0, -1], [-1, 0], [0, -1]])
    outputs = np.array([[1.0, 0.0], [5.0, 5.0], [3.0, 2.0]])
    draft = Draft(np.zeros((2, 1)), np.ones((2, 1)), np.zeros(2, dtype=bool), premises, outputs)
    single = draft.without_repeats()
    assert single.premises.tolist() == [[0, -1], [-1, 0]]
    assert single.outputs.tolist() == [[2.0, 1.0], [5.0, 5.0]]
    assert single.without_repeats() is single


@pytest.mark.parametrize(
    "limits", [{"max_rules": 3}, {"max_premises": 1}, {"max_size": 5}, {"max_rules": 2, "max_premises": 2}]
)
@pytest.mark.parametrize("load", [load_wine, load_diabetes])
def test_limits_are_kept(limits, load):
    X, y = table(load)
    kind = npl.NeuroFuzzyRegressor if load is load_diabetes else npl.NeuroFuzzyClassifier
    model = kind(readable=True, random_state=1, **limits).fit(X, y)
    sizes = size_of(model)
    assert len(sizes) <= limits.get("max_rules", 99)
    assert sizes.max() <= limits.get("max_premises", 4)
    assert sizes.sum() <= limits.get("max_size", 40)
    assert model.score(X, y) > (0.2 if load is load_diabetes else 0.6)


@pytest.mark.parametrize("size", [10, 20, 40])
def test_the_limit_on_all_premises_is_kept_where_a_table_would_use_more(size):
    X, y = load_digits(return_X_y=True)
    model = npl.NeuroFuzzyClassifier(readable=True, max_size=size, random_state=0).fit(X[:500], y[:500])
    assert 0.6 * size <= size_of(model).sum() <= size


def test_at_ten_premises_rules_are_more_accurate_than_a_tree_of_ten():
    """On this table and split; benchmarks/ has many."""
    X, y = load_breast_cancer(return_X_y=True)
    ours = cross_val_score(npl.NeuroFuzzyClassifier(readable=True, max_size=10, random_state=0), X, y, cv=5)
    tree = cross_val_score(DecisionTreeClassifier(max_leaf_nodes=4, random_state=0), X, y, cv=5)
    assert ours.mean() > tree.mean()


def test_a_saved_model_predicts_and_tells_the_same(cancer, tmp_path):
    X, _, model = cancer
    npl.save(model, tmp_path / "model.safetensors")
    again = npl.load(tmp_path / "model.safetensors")
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.rules_.text() == model.rules_.text()
    assert "cases" in again.rules_.text()


def test_no_premise_of_numbers_holds_of_nearly_every_row(cancer):
    X, _, model = cancer
    for rule in model.rules_:
        for variable, term in rule.premises:
            covered = np.abs(X[variable.name] - term.center) <= HALF * term.width
            assert covered.mean() < 0.95, f"{variable.name} is {term.name}"


def test_sets_that_cover_the_same_become_one_and_rules_that_lead_nowhere_go():
    x = np.linspace(0, 1, 50)[:, None]
    plain = Draft(
        centers=np.array([[0.0, -0.1, 1.0, 0.5]]),
        widths=np.array([[0.5, 0.605, 0.5, 0.1]]) / HALF,
        crisp=np.zeros(1, dtype=bool),
        premises=np.array([[0], [1], [2], [3]]),
        outputs=np.arange(4.0)[:, None],
    )
    merged = plain.without_twins(x)
    assert merged.premises.tolist() == [[0], [2], [3]], "the first two both end at .5"
    assert merged.outputs.tolist() == [[0.5], [2.0], [3.0]]
    assert len(merged.leading(x).premises) == 3
    assert merged.leading(x[:10]).premises.tolist() == merged.premises.tolist(), (
        "one rule alone decides nothing"
    )
    assert merged.leading(x[[0, 1, -1]]).premises.tolist() == [[0], [2]]


def test_the_same_rows_in_any_order_give_the_same_rules_whatever_the_seed():
    X, y = table(load_breast_cancer)  # more rows than a batch has, and columns that say nearly the same
    one = npl.NeuroFuzzyClassifier(readable=True, random_state=3, max_updates=70).fit(X, y)
    two = npl.NeuroFuzzyClassifier(readable=True, max_updates=70).fit(X[::-1], y[::-1])
    assert one.rules_.text() == two.rules_.text()
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))


def test_values_beyond_the_usual_range_count_as_at_its_end(cancer):
    X, _, model = cancer
    far, end = X.copy(), X.copy()
    far["worst area"], end["worst area"] = 1e6, model.clip_[1, X.columns.get_loc("worst area")]
    assert np.array_equal(model.predict_proba(far), model.predict_proba(end))


def credit(rows=600, seed=0):
    """Loans that fail by education and by debt."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "education": rng.choice(["primary", "secondary", "university", "none"], rows),
            "debt": rng.gamma(2.0, 1000, rows),
            "colour": rng.choice(["red", "blue"], rows),
        }
    )
    bad = X["education"].isin(["none", "primary"]) ^ (X["debt"] > 4000)
    return X, np.where(bad, "fails", "pays")


def test_categories_are_asked_for_by_name_and_never_against_each_other():
    X, y = credit()
    model = npl.NeuroFuzzyClassifier(readable=True, random_state=0).fit(X, y)
    text = model.rules_.text()
    assert model.score(X, y) > 0.95
    assert "education is none or primary" in text or "education is primary or none" in text
    assert "colour" not in text
    assert " = " not in text
    assert all(line.count("education is") <= 1 for line in text.splitlines())


def test_a_category_never_seen_is_said_and_survived():
    X, y = credit()
    model = npl.NeuroFuzzyClassifier(readable=True, max_updates=40).fit(X, y)
    strange = X.head(3).assign(education="doctorate")
    with pytest.warns(npl.ColumnWarning, match="doctorate"):
        assert np.isfinite(model.predict_proba(strange)).all()


def test_it_learns_on_from_further_rows():
    X, y = load_wine(return_X_y=True)
    model = npl.NeuroFuzzyClassifier(readable=True, taught=False)
    for part in np.array_split(np.random.default_rng(0).permutation(len(X)), 3):
        model.partial_fit(X[part], y[part], classes=[0, 1, 2])
    assert model.n_iter_ == 3
    assert model.rules_.evidence is None
    warm = npl.NeuroFuzzyClassifier(readable=True, warm_start=True, max_updates=40).fit(X, y)
    rules = len(warm.rules_)
    assert len(warm.fit(X, y).rules_) == rules
    assert warm.rules_.evidence is not None


def test_limits_without_readable_are_refused():
    X, y = load_wine(return_X_y=True)
    with pytest.raises(npl.ConfigError, match="limits of readable=True"):
        npl.NeuroFuzzyClassifier(max_rules=3).fit(X, y)
    with pytest.raises(npl.ConfigError, match="max_rules must be"):
        npl.NeuroFuzzyClassifier(readable=True, max_rules=0).fit(X, y)


def test_one_class_or_constant_columns_give_one_decision():
    X = np.ones((30, 2))
    X[:, 1] = np.arange(30)
    model = npl.NeuroFuzzyClassifier(readable=True, random_state=0).fit(X, ["same"] * 30)
    assert set(model.predict(X)) == {"same"}
    assert "same" in model.rules_.text()
