"""Tables as a stranger may hand them over: learned from, or refused by the name of the column and what to do."""

import numpy as np
import pandas as pd
import pytest

import neuroplastic as npl
from neuroplastic.learn.estimators.rows import MOST_WEIGHT

QUICK = {"rules": 2, "max_updates": 2, "random_state": 0}
READABLE = {"readable": True, "max_rules": 3, "max_updates": 2, "taught": False}
ROWS = 24


def table(**columns) -> tuple[pd.DataFrame, np.ndarray]:
    """Rows with two columns that can be learned from, and others that are given."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=ROWS), "b": rng.normal(size=ROWS)}).assign(**columns)
    return frame, np.where(frame["b"] > 0, "yes", "no")


@pytest.mark.parametrize("how", [QUICK, READABLE], ids=["plain", "readable"])
@pytest.mark.parametrize(
    ("column", "said"),
    [
        ([[1, 2]] * ROWS, "column 'c' must hold words or numbers, a value in each row .*; leave out 'c'"),
        ([{"x": 1}] * ROWS, "column 'c' must hold words or numbers"),
        (np.full(ROWS, 1 + 2j), "column 'c' holds complex numbers; give their real and imaginary parts"),
        (pd.to_timedelta(np.arange(ROWS), unit="s"), "column 'c' is a length of time"),
        ([f"id {k}" for k in range(ROWS)], "column 'c' is text that differs in every row"),
        ([None] * ROWS, "column 'c' has no usable value"),
        ([np.inf, *range(ROWS - 1)], "column 'c' has an infinite value in row 1"),
    ],
    ids=["lists", "records", "complex", "times", "identifiers", "missing", "infinite"],
)
def test_a_column_that_nothing_can_be_learned_from_is_refused_by_its_name(column, said, how):
    words = ["x", "y"] * (
        ROWS // 2
    )  # a table of numbers alone is for scikit-learn to refuse, in its own words
    with pytest.raises(npl.InputError, match=said):
        npl.NeuroFuzzyClassifier(**how).fit(*table(c=column, d=words))


@pytest.mark.parametrize("kind", ["float64", "Float64", "float32"])
def test_an_infinite_value_in_a_table_of_numbers_is_named_by_column_and_row(kind):
    frame, labels = table()
    model = npl.NeuroFuzzyClassifier(**QUICK).fit(frame, labels)
    frame.loc[4, "b"] = -np.inf
    for asked in (lambda: model.fit(frame.astype(kind), labels), lambda: model.predict(frame.astype(kind))):
        with pytest.raises(
            npl.InputError, match="column 'b' has an infinite value in row 5; leave the row out"
        ):
            asked()


def test_lists_among_the_rows_to_predict_are_refused_too():
    frame, labels = table(c=["x", "y"] * (ROWS // 2))
    model = npl.NeuroFuzzyClassifier(**QUICK).fit(frame, labels)
    with pytest.raises(npl.InputError, match="column 'c' must hold words or numbers"):
        model.predict(frame.assign(c=[["x"]] * ROWS))


@pytest.mark.parametrize("words", [False, True])
def test_a_name_that_two_columns_have_and_a_table_of_nothing_are_refused(words):
    frame, labels = table(c=["x", "y"] * (ROWS // 2) if words else 1.0)
    model = npl.NeuroFuzzyClassifier(**QUICK)
    with pytest.raises(npl.InputError, match="X has two columns called 'a'; rename one"):
        model.fit(frame.set_axis(["a", "b", "a"], axis=1), labels)
    with pytest.raises(npl.InputError, match="at least one row and one column"):
        model.fit(frame[[]], labels)
    fitted = model.fit(frame.drop(columns="c"), labels)
    with pytest.raises(npl.InputError, match="X has two columns called 'a'; rename one"):
        fitted.predict(frame.set_axis(["a", "b", "a"], axis=1))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("how", [QUICK, READABLE], ids=["plain", "readable"])
@pytest.mark.parametrize("weight", [1e-300, 1e-20, 1e100, 1e308])
def test_weights_that_add_up_to_nothing_or_to_more_than_can_be_computed_with_are_refused(weight, how):
    said = "must add up to between .* divide them by their mean"
    with pytest.raises(npl.InputError, match=said):
        npl.NeuroFuzzyClassifier(**how).fit(*table(), sample_weight=np.full(ROWS, weight))
    with pytest.raises(npl.InputError, match="weights of rows and classes"):
        npl.NeuroFuzzyClassifier(**how, class_weight={"yes": 1e-300, "no": 1e30}).fit(*table())


@pytest.mark.parametrize("how", [QUICK, READABLE], ids=["plain", "readable"])
@pytest.mark.parametrize("total", [1e-11, 1.0, MOST_WEIGHT / 10])
def test_weights_between_these_give_finite_answers(total, how):
    frame, labels = table()
    model = npl.NeuroFuzzyClassifier(**how).fit(frame, labels, sample_weight=np.full(ROWS, total / ROWS))
    assert np.isfinite(model.predict_proba(frame)).all()


ODD = (np.array([1, 2]), "much", None, [True], object())


@pytest.mark.parametrize("value", ODD, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize(
    "name",
    [
        *("rules", "terms", "entmax_alpha", "ridge", "shrinkage", "learning_rate", "batch_size"),
        *("early_stopping", "validation_fraction", "patience", "readable", "taught"),
    ],
)
def test_a_parameter_that_is_no_such_thing_is_refused_by_its_name(name, value):
    with pytest.raises(npl.ConfigError, match=f"^{name} must "):
        npl.NeuroFuzzyClassifier(**{name: value}).fit(*table())


def test_teachers_for_rules_that_are_not_readable_are_refused():
    with pytest.raises(npl.ConfigError, match="taught=True is for rules of readable=True"):
        npl.NeuroFuzzyClassifier(taught=True).fit(*table())
