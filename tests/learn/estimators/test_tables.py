"""Tables that hold more than numbers, learned from as they are."""

import pickle

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_score

import neuroplastic as npl
from neuroplastic.errors import ConstantColumnWarning, UnseenCategoryWarning
from neuroplastic.learn.estimators.encoding import Encoder
from neuroplastic.rules.building import network_of
from tests.fuzz.model_files import ModelFile

QUICK = {"rules": 4, "max_updates": 20, "random_state": 0}


def credit(rows: int = 300, seed: int = 0) -> tuple[pd.DataFrame, pd.Series]:
    """People who ask for money: numbers, text, categories, truth values, dates, and holes in all of them."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, rows),
            "income": rng.lognormal(8, 0.5, rows),
            "education": pd.Categorical(rng.choice(["primary", "secondary", "university"], rows)),
            "town": rng.choice(["Ghent", "Lyon", "Turin", "Graz"], rows),
            "owner": rng.random(rows) < 0.4,
            "since": pd.Timestamp("2015-01-01") + pd.to_timedelta(rng.integers(0, 3000, rows), unit="D"),
        }
    )
    good = 0.0004 * frame["income"] + 1.5 * frame["owner"] + (frame["education"] == "university") * 1.5
    y = pd.Series(np.where(good + rng.logistic(0, 0.3, rows) > 2.2, "paid", "late"), name="end")
    frame.loc[rng.random(rows) < 0.1, "income"] = np.nan
    frame.loc[rng.random(rows) < 0.1, "town"] = None
    return frame, y


@pytest.fixture(scope="module")
def table():
    return credit()


@pytest.fixture(scope="module")
def fitted(table):
    return npl.NeuroFuzzyClassifier(rules=6, random_state=0).fit(*table)


def test_a_table_of_all_kinds_is_learned_from_as_it_is(table, fitted):
    assert fitted.score(*credit(300, seed=1)) > 0.8
    assert [column.kind for column in fitted.columns_] == [
        *("number", "number", "category", "category", "category", "date"),
    ]
    assert fitted.columns_[3].categories == ("Ghent", "Graz", "Lyon", "Turin", "missing")
    assert fitted.columns_[1].fill == table[0]["income"].median()
    assert fitted.n_features_in_ == 6
    assert list(fitted.feature_names_in_) == list(table[0].columns)


def test_rules_never_ask_for_one_hot_columns_so_no_premises_contradict(fitted):
    rules = fitted.rules_
    for place, variable in enumerate(rules.inputs):
        if " = " in variable.name:
            assert variable.terms == ()
            assert (rules.premises[:, place] == -1).all()
        else:
            assert len(variable.terms) > 1
    assert not any(" = " in rules.inputs[birth.attribute].name for birth in fitted.births_)
    assert "owner = True" in rules.text(formulas=True)  # in THEN parts


def test_rules_of_a_mixed_table_compute_what_predict_says(table, fitted):
    net = network_of(fitted.rules_, dtype=torch.float64).eval()
    outputs = net(torch.from_numpy(fitted.encode(table[0]))).detach().numpy()
    np.testing.assert_array_equal(fitted.classes_[outputs.argmax(axis=1)], fitted.predict(table[0]))


def test_explanation_diagnosis_and_simplification_take_the_table_as_it_is(table, fitted):
    x = table[0]
    assert "income" in fitted.explain(x.iloc[:2]).text(0)
    assert fitted.diagnose(x).rows == len(x)
    simple, _ = fitted.simplify(x, 0.2)
    assert (simple.predict(x) == fitted.predict(x)).mean() > 0.9
    assert npl.explain(fitted, x.iloc[:1]).text(0) == fitted.explain(x.iloc[:1]).text(0)


def test_a_saved_model_of_a_mixed_table_comes_back_whole(table, fitted, tmp_path):
    npl.save(fitted, tmp_path / "model")
    again = npl.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(table[0]), fitted.predict_proba(table[0]))
    assert again.columns_ == fitted.columns_
    np.testing.assert_array_equal(again.limits_, fitted.limits_)
    assert again.rules_.text() == fitted.rules_.text()
    assert pickle.loads(pickle.dumps(fitted)).columns_ == fitted.columns_


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda e: e["columns"].pop(), "encoder_ must have 6 columns, got 5"),
        (
            lambda e: e["columns"][3]["categories"].pop(0),
            "the width of encoder_ must be 13 as in the network, got 12",
        ),
        (lambda e: e["columns"][3]["categories"].append("Graz"), "categories of column 'town' must differ"),
        (lambda e: e["columns"][3].update(fill="Oslo"), "must be one of its categories"),
        (lambda e: e["columns"][0].update(kind="word"), "columns\\[0\\].kind must be 'number' or"),
        (lambda e: e["columns"][5].update(origin="soon"), "the origin of column 'since' must be a date"),
        (lambda e: e.update(form="hashed"), "form must be 'one_hot' or 'codes' or 'both', got 'hashed'"),
        (lambda e: e["columns"].clear(), "must have a column that is not constant"),
    ],
)
def test_columns_that_no_table_has_are_refused_by_name(fitted, tmp_path, change, complaint):
    npl.save(fitted, tmp_path / "model")
    file = ModelFile.read(tmp_path / "model")
    change(file.header["config"]["encoder_"])
    with pytest.raises(npl.StorageError, match=complaint):
        npl.load(file.write(tmp_path / "changed"))


def test_an_onnx_graph_takes_the_encoded_columns(table, fitted, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    npl.export(fitted, tmp_path / "model.onnx")
    session = runtime.InferenceSession(tmp_path / "model.onnx")
    rows = fitted.encode(table[0]).astype(np.float32)
    (scores,) = session.run(None, {session.get_inputs()[0].name: rows})
    assert (fitted.classes_[scores.argmax(axis=1)] == fitted.predict(table[0])).mean() > 0.99


def test_rows_may_come_as_lists_and_in_a_file_of_one_kind(table, fitted):
    values = table[0].iloc[:5].to_numpy(dtype=object)
    with pytest.warns(UserWarning, match="valid feature names"):
        np.testing.assert_array_equal(fitted.predict(values), fitted.predict(table[0].iloc[:5]))


def test_another_order_of_columns_is_refused(table, fitted):
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(table[0][list(table[0].columns[::-1])])


def test_a_town_never_seen_is_said_and_predicted(table, fitted):
    strange = table[0].iloc[:4].assign(town="Oslo")
    with pytest.warns(UnseenCategoryWarning, match="'town' .*'Oslo' in 4 rows"):
        assert len(fitted.predict(strange)) == 4


def test_missing_numbers_are_filled_in_arrays_too():
    x, y = load_iris(return_X_y=True)
    x = x.copy()
    x[::7, 1] = np.nan
    model = npl.NeuroFuzzyClassifier(**QUICK).fit(x, y)
    assert model.columns_[1].fill == np.nanmedian(x[:, 1])
    assert model.score(x, y) > 0.9
    filled = np.where(np.isnan(x), np.nanmedian(x[:, 1]), x)
    np.testing.assert_array_equal(model.predict_proba(x), model.predict_proba(filled))


def test_weight_two_is_the_row_twice_in_a_mixed_table_too(table):
    x, y = table[0].iloc[:120], table[1].iloc[:120]
    weight = np.random.default_rng(0).integers(0, 3, len(x))
    weighted = npl.NeuroFuzzyClassifier(**QUICK).fit(x, y, sample_weight=weight)
    rows = np.repeat(np.arange(len(x)), weight)
    repeated = npl.NeuroFuzzyClassifier(**QUICK).fit(x.iloc[rows], y.iloc[rows])
    assert weighted.columns_ == repeated.columns_
    np.testing.assert_array_equal(weighted.predict_proba(x), repeated.predict_proba(x))


def test_a_constant_column_is_no_input_of_the_rules_and_needs_no_value_later():
    x, y = load_iris(return_X_y=True, as_frame=True)
    wider = x.assign(planet="earth")
    with pytest.warns(ConstantColumnWarning, match="'planet'"):
        model = npl.NeuroFuzzyClassifier(**QUICK).fit(wider, y)
    assert model.n_features_in_ == 5
    assert len(model.rules_.inputs) == 4
    np.testing.assert_array_equal(model.predict(wider.assign(planet=None)), model.predict(wider))
    narrow = npl.NeuroFuzzyClassifier(**QUICK).fit(x, y)
    np.testing.assert_array_equal(model.predict_proba(wider), narrow.predict_proba(x))


def test_partial_fit_reads_the_table_too_and_keeps_columns_that_are_constant_at_first(table):
    x, y = table
    model = npl.NeuroFuzzyRegressor(random_state=0)
    first = x.iloc[:100].assign(age=40)
    model.partial_fit(first, y.iloc[:100] == "paid").partial_fit(x.iloc[100:], y.iloc[100:] == "paid")
    assert model.columns_[0].kind == "number"
    assert model.limits_[1, 0] == x["age"].max()
    assert np.isfinite(model.predict(x)).all()


def test_cross_validation_of_scikit_learn_takes_the_table_as_it_is(table):
    assert cross_val_score(npl.NeuroFuzzyClassifier(**QUICK), *table, cv=3).mean() > 0.75


def test_rules_ask_for_categories_where_there_is_nothing_else_and_learn_what_no_line_parts(tmp_path):
    rng = np.random.default_rng(0)
    x = pd.DataFrame({name: rng.choice(["red", "green", "blue"], 300) for name in ("left", "right")})
    y = np.where(x["left"] == x["right"], "same", "other")
    model = npl.NeuroFuzzyClassifier(random_state=0).fit(x, y)
    assert model.score(x, y) > 0.95
    rules = model.rules_
    assert [term.name for term in rules.inputs[0].terms] == ["blue", "green", "red"]
    assert "IF left is" in rules.text()
    assert not rules.consequents.weight[:, :, [0, 4]].any()  # the codes themselves are no quantities
    npl.save(model, tmp_path / "model")
    np.testing.assert_array_equal(npl.load(tmp_path / "model").predict_proba(x), model.predict_proba(x))


class WithCodes(npl.NeuroFuzzyClassifier):
    """As a readable estimator hands categories to its rules."""

    def _encoder(self, columns):
        return Encoder(columns, "codes")


def test_codes_give_each_category_a_crisp_set_of_its_name_that_no_training_moves(table):
    model = WithCodes(rules=6, max_updates=60, random_state=0).fit(*table)
    education = next(variable for variable in model.rules_.inputs if variable.name == "education")
    assert [term.name for term in education.terms] == ["primary", "secondary", "university"]
    np.testing.assert_allclose([term.center for term in education.terms], [0, 1, 2], atol=1e-6)
    np.testing.assert_allclose([term.width for term in education.terms], 0.15, atol=1e-6)
    assert "education is primary" in model.rules_.text()
    simple, _ = model.simplify(table[0], 0.3)
    assert {term.name for variable in simple.rules_.inputs[2:5] for term in variable.terms} <= {
        *("primary", "secondary", "university"),
        *("Ghent", "Graz", "Lyon", "Turin", "missing", "True", "False"),
    }


def test_predictions_do_not_depend_on_how_a_table_lies_in_memory():
    x, y = load_iris(return_X_y=True)
    model = npl.NeuroFuzzyClassifier(**QUICK).fit(x, y)
    np.testing.assert_array_equal(model.predict_proba(np.asfortranarray(x)), model.predict_proba(x))


# Classes that count differently


def test_balanced_classes_count_the_same_and_find_the_rare_one():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(0, 1, (380, 2)), rng.normal(1.2, 1, (20, 2))])
    y = np.array(["often"] * 380 + ["rare"] * 20)
    plain = npl.NeuroFuzzyClassifier(**QUICK).fit(x, y)
    balanced = npl.NeuroFuzzyClassifier(**QUICK, class_weight="balanced").fit(x, y)
    same = npl.NeuroFuzzyClassifier(**QUICK, class_weight={"often": 400 / 760, "rare": 10}).fit(x, y)
    found = [(model.predict(x[380:]) == "rare").mean() for model in (plain, balanced)]
    assert found[0] < 0.5 < found[1]
    np.testing.assert_array_equal(balanced.predict_proba(x), same.predict_proba(x))


def test_a_class_weight_is_a_weight_of_its_rows():
    x, y = load_iris(return_X_y=True)
    by_class = npl.NeuroFuzzyClassifier(**QUICK, class_weight={2: 3}).fit(x, y)
    by_row = npl.NeuroFuzzyClassifier(**QUICK).fit(x, y, sample_weight=np.where(y == 2, 3, 1))
    np.testing.assert_array_equal(by_class.predict_proba(x), by_row.predict_proba(x))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("even", "must be None, 'balanced' or a dict"),
        ({0: -1}, "of 0 must be a number of at least 0, got -1"),
        ({9: 1}, "must name classes of y"),
        ({0: 0, 1: 0, 2: 0}, "must leave a class of y above 0"),
    ],
)
def test_a_wrong_class_weight_is_refused_by_name(given, words):
    with pytest.raises(npl.ConfigError, match=words):
        npl.NeuroFuzzyClassifier(class_weight=given).fit(*load_iris(return_X_y=True))


def test_balanced_classes_need_all_rows_at_once():
    with pytest.raises(npl.ConfigError, match="needs all rows at once"):
        npl.NeuroFuzzyClassifier(class_weight="balanced").partial_fit([[1.0]], [0], classes=[0, 1])


@pytest.mark.parametrize("weights", ["balanced", {0: 2.0, 2: 0.5}])
def test_class_weights_are_saved(weights, tmp_path):
    x, y = load_iris(return_X_y=True)
    npl.save(npl.NeuroFuzzyClassifier(**QUICK, class_weight=weights).fit(x, y), tmp_path / "model")
    assert npl.load(tmp_path / "model").class_weight == weights


def test_the_decision_function_ranks_as_the_probabilities_do(table, fitted):
    x = table[0]
    ahead = fitted.decision_function(x)
    assert ahead.shape == (len(x),)
    chances = fitted.predict_proba(x)[:, 1]
    np.testing.assert_allclose(1 / (1 + np.exp(-ahead)), chances, atol=1e-12)
    flowers, kinds = load_iris(return_X_y=True)
    three = npl.NeuroFuzzyClassifier(**QUICK).fit(flowers, kinds)
    scores = three.decision_function(flowers)
    assert scores.shape == (150, 3)
    np.testing.assert_array_equal(scores.argmax(axis=1), three.predict(flowers))


# Sparse input


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
def test_a_sparse_table_is_the_dense_one(form):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 5)) * (rng.random((80, 5)) < 0.4)
    y = x[:, 0] + x[:, 1]
    dense, thin = (npl.NeuroFuzzyRegressor(**QUICK).fit(rows, y) for rows in (x, form(x)))
    np.testing.assert_array_equal(thin.predict(form(x)), dense.predict(x))


def test_a_sparse_table_too_large_to_be_dense_is_refused_with_the_figures():
    huge = sparse.csr_array((10**7, 10**6))
    with pytest.raises(npl.ConfigError, match=r"X of 10000000 rows and 1000000 columns.*would need 80 TB"):
        npl.NeuroFuzzyRegressor().fit(huge, np.zeros(10**7))
