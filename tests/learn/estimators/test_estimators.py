"""The estimators by law and by example."""

import pickle

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone
from sklearn.datasets import load_iris, make_regression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import neuroplastic as npl
from neuroplastic.rules.building import network_of

QUICK = {"rules": 4, "max_updates": 40, "random_state": 0}


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def fitted(iris):
    x, y = iris
    return npl.NeuroFuzzyClassifier(**QUICK).fit(x, y.map({0: "setosa", 1: "versicolor", 2: "virginica"}))


def corners(rows=400):
    """Two classes that no line parts: the sign of a product."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(rows, 2))
    return x, np.where(x[:, 0] * x[:, 1] > 0, "same", "other")


def test_without_scikit_learn_networks_work_and_the_error_of_estimators_names_the_extra(fresh_python):
    code = """
import sys
sys.modules["sklearn"] = None
import neuroplastic
print(neuroplastic.NeuroFuzzyNetwork)
neuroplastic.NeuroFuzzyClassifier
"""
    done = fresh_python(code, check=False)
    assert "NeuroFuzzyNetwork" in done.stdout
    assert done.returncode == 1
    assert "neuroplastic[table]" in done.stderr


def test_names_are_listed():
    assert {"NeuroFuzzyClassifier", "NeuroFuzzyRegressor"} <= set(dir(npl)) & set(npl.__all__)


def test_rules_learn_what_no_line_parts():
    x, y = corners()
    model = npl.NeuroFuzzyClassifier(random_state=0).fit(x, y)
    test_x = np.random.default_rng(1).normal(size=(400, 2))
    test_y = np.where(test_x[:, 0] * test_x[:, 1] > 0, "same", "other")
    assert model.score(test_x, test_y) > 0.9


def test_regression_learns_a_curve():
    x = np.linspace(-3, 3, 200)[:, None]
    y = np.sin(2 * x[:, 0])
    assert npl.NeuroFuzzyRegressor(random_state=0).fit(x, y).score(x, y) > 0.95


def test_weight_two_is_the_row_twice_and_weight_zero_no_row(iris):
    x, y = iris
    x, y = x.to_numpy(), y.to_numpy()
    weight = np.random.default_rng(0).integers(0, 3, len(x))
    weighted = npl.NeuroFuzzyClassifier(**QUICK).fit(x, y, sample_weight=weight)
    repeated = npl.NeuroFuzzyClassifier(**QUICK).fit(np.repeat(x, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_array_equal(weighted.predict_proba(x), repeated.predict_proba(x))


def test_order_of_rows_does_not_matter(iris):
    x, y = iris
    order = np.random.default_rng(0).permutation(len(x))
    one = npl.NeuroFuzzyClassifier(**QUICK).fit(x, y).predict_proba(x)
    other = npl.NeuroFuzzyClassifier(**QUICK).fit(x.iloc[order], y.iloc[order]).predict_proba(x)
    np.testing.assert_array_equal(one, other)


def test_equal_seeds_give_equal_fits_and_leave_torchs_generator_alone(iris):
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    one, other = (npl.NeuroFuzzyClassifier(**QUICK).fit(*iris).predict_proba(iris[0]) for _ in range(2))
    np.testing.assert_array_equal(one, other)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_rules_are_in_raw_units_with_names_of_columns_and_classes(fitted, iris):
    rules = fitted.rules_
    assert [variable.name for variable in rules.inputs] == list(iris[0].columns)
    assert [variable.name for variable in rules.outputs] == ["setosa", "versicolor", "virginica"]
    assert len(rules) == 4
    lengths = [term.center for term in rules.inputs[2].terms]
    assert 0 < min(lengths) < max(lengths) < 10  # centimetres of a petal, not deviations


def test_rules_compute_what_predict_says(fitted, iris):
    x = iris[0].to_numpy()
    outputs = network_of(fitted.rules_, dtype=torch.float64).eval()(torch.tensor(x)).detach().numpy()
    np.testing.assert_array_equal(fitted.classes_[outputs.argmax(axis=1)], fitted.predict(iris[0]))


def test_explanation_speaks_of_columns(fitted, iris):
    assert fitted.explain(iris[0].iloc[:3]) is not None


def test_pipeline_grid_search_clone_and_pickle(iris):
    x, y = iris
    search = GridSearchCV(
        make_pipeline(StandardScaler(), npl.NeuroFuzzyClassifier(max_updates=10, random_state=0)),
        {"neurofuzzyclassifier__rules": np.array([2, 3])},
        cv=2,
    ).fit(x, y)
    best = clone(search.best_estimator_).fit(x, y)
    again = pickle.loads(pickle.dumps(best))
    np.testing.assert_array_equal(again.predict_proba(x), best.predict_proba(x))


def test_partial_fit_goes_on_learning_and_knows_all_classes():
    x, y = corners(300)
    model = npl.NeuroFuzzyClassifier(random_state=0)
    for _ in range(60):
        model.partial_fit(x, y, classes=["other", "same"])
    assert model.score(x, y) > 0.8
    with pytest.raises(npl.InputError, match="classes"):
        model.partial_fit(x[:1], ["third"])


def test_first_partial_fit_without_classes_is_refused(iris):
    with pytest.raises(npl.InputError, match="classes must be passed"):
        npl.NeuroFuzzyClassifier().partial_fit(*iris)


def test_partial_fit_lets_sets_be_born_where_new_rows_lie():
    rng = np.random.default_rng(0)
    model = npl.NeuroFuzzyRegressor(random_state=0)
    for shift in (0, 0, 20, 20, 20, 20):
        x = rng.normal(shift, 1, size=(100, 1))
        model.partial_fit(x, x[:, 0])
    assert any(birth.center > 10 for birth in model.births_)


def test_warm_start_goes_on_from_the_network_there_is(iris):
    model = npl.NeuroFuzzyClassifier(**QUICK, warm_start=True).fit(*iris)
    network = model.network_
    assert model.fit(*iris).network_ is network


def test_several_targets_are_predicted_together():
    x, y = make_regression(120, 5, n_targets=2, random_state=0)
    model = npl.NeuroFuzzyRegressor(**QUICK).fit(x, y)
    assert model.predict(x).shape == (120, 2)
    assert model.score(x, y) > 0.95
    assert [variable.name for variable in model.rules_.outputs] == ["y1", "y2"]


@pytest.mark.filterwarnings("ignore::neuroplastic.ColumnWarning")
def test_constant_column_and_constant_target_are_no_trouble():
    x = np.column_stack([np.linspace(0, 1, 50), np.full(50, 7.0), np.full(50, 1e9) + 1e-8])
    model = npl.NeuroFuzzyRegressor(**QUICK).fit(x, np.full(50, 3.0))
    np.testing.assert_allclose(model.predict(x), 3.0, atol=0.05)


def test_infinite_values_are_refused(iris):
    x = iris[0].to_numpy().copy()
    x[3, 1] = np.inf
    with pytest.raises(ValueError, match=r"infinity"):
        npl.NeuroFuzzyClassifier(**QUICK).fit(x, iris[1])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rules", 0),
        ("terms", 1.5),
        ("learning_rate", 0),
        ("ridge", -1),
        ("early_stopping", "yes"),
        ("entmax_alpha", 3),
    ],
)
def test_a_bad_parameter_is_named(name, value, iris):
    with pytest.raises(npl.ConfigError, match=name):
        npl.NeuroFuzzyClassifier(**{name: value}).fit(*iris)


def test_labels_are_doubted_where_there_are_more_than_two_classes():
    model = npl.NeuroFuzzyClassifier()
    for classes, doubt in ((2, 0.0), (4, 0.01), (100, 0.1)):
        outputs = torch.randn(5, classes, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
        label = torch.zeros(5, dtype=torch.long)
        log = outputs.log_softmax(dim=1)
        wanted = -(1 - doubt) * log[:, 0] - doubt * log.mean(dim=1)
        torch.testing.assert_close(model._loss(outputs, label), wanted)


def test_held_out_rows_stop_training_and_the_best_look_is_kept():
    x, _ = corners(600)
    noise = np.random.default_rng(3).integers(0, 2, 600)
    model = npl.NeuroFuzzyClassifier(random_state=0, early_stopping=True, patience=2, max_updates=2000)
    looks = []
    model.fit(x, noise, on_look=looks.append)
    assert model.n_iter_ < 2000
    assert looks[0].updates == 2000
    assert looks[-1].update == looks[-1].updates == model.n_iter_
    assert len(model.history_.held_out) == len(model.history_.losses)


def test_odd_names_of_columns_become_readable(iris):
    x = pd.DataFrame(iris[0].to_numpy(), columns=["it's", "its", " a\nb", "it s"])
    names = [variable.name for variable in npl.NeuroFuzzyClassifier(**QUICK).fit(x, iris[1]).rules_.inputs]
    assert names == ["it\u2019s", "its", "a b", "it s"]


def test_progress_is_shown_when_asked(iris, capsys):
    npl.NeuroFuzzyClassifier(**QUICK, verbose=1).fit(*iris)
    assert "fitting" in capsys.readouterr().err


@pytest.mark.parametrize("layer_norm", [True, False])
def test_start_stands_where_training_starts_from(iris, layer_norm):
    settings = {"rules": 6, "random_state": 3, "layer_norm": layer_norm}
    start = npl.NeuroFuzzyClassifier(**settings).start(*iris)
    # One update of next to no length leaves everything where it was, but for single precision.
    moved = npl.NeuroFuzzyClassifier(max_updates=1, learning_rate=1e-12, **settings).fit(*iris)
    assert np.array_equal(start.rules_.premises, moved.rules_.premises)
    np.testing.assert_allclose(start.predict_proba(iris[0]), moved.predict_proba(iris[0]), atol=1e-5)
    assert start.n_iter_ == 0
    assert not start.births_
    assert start.explain(iris[0].iloc[:1]).text(0)


def test_start_is_linear_and_forgets_an_earlier_fit():
    x, y = make_regression(80, 3, noise=5.0, random_state=0)
    model = npl.NeuroFuzzyRegressor(**QUICK).fit(x, y)
    start = model.start(x, y)
    assert start is model
    first = model.rules_.consequents
    assert np.ptp(first.weight, axis=0).max() == 0
    assert np.ptp(first.bias, axis=0).max() == 0
    assert model.history_.updates == 0


def test_a_fit_tells_how_far_it_is_and_changes_nothing_by_it(iris):
    looks = []
    told = npl.NeuroFuzzyClassifier(**QUICK).fit(*iris, on_look=looks.append)
    assert [look.training for look in looks if look.update == 20] == [
        1,
        2,
        3,
        4,
    ]  # three parts, then all rows
    assert {look.trainings for look in looks} == {4}
    assert looks[-1].update == told.n_iter_
    assert looks[-1].held_out is None
    assert looks[0].held_out is not None
    silent = npl.NeuroFuzzyClassifier(**QUICK).fit(*iris)
    assert np.array_equal(told.predict_proba(iris[0]), silent.predict_proba(iris[0]))


def test_what_a_listener_raises_ends_the_fit(iris):
    def enough(look):
        if look.training == 2:
            raise KeyboardInterrupt

    threads = torch.get_num_threads()
    with pytest.raises(KeyboardInterrupt):
        npl.NeuroFuzzyClassifier(**QUICK).fit(*iris, on_look=enough)
    assert torch.get_num_threads() == threads
