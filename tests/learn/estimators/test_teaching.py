"""What teachers say of the rows of a table, and of rows made up between them."""

import numpy as np
import pandas as pd
import pytest

import neuroplastic as npl
from neuroplastic.learn.estimators.readable.learning import _are_to_be_taught
from neuroplastic.learn.estimators.readable.teaching import MOST_ROWS, taught


@pytest.fixture(scope="module")
def lesson():
    """Rows of two numbers and a category, the estimator that read them, and what they became."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"age": rng.uniform(20, 70, 80), "rooms": rng.integers(1, 5, 80), "town": rng.choice([*"abc"], 80)}
    )
    y = np.where((X["age"] > 45) ^ (rng.random(80) < 0.1), "old", "young")
    model = npl.NeuroFuzzyClassifier(readable=True)
    rows = model._rows(X, y, np.linspace(1, 2, 80), first=True)
    codes = model.encoder_.are("code")
    return model, rows, codes, taught(model, rows, codes, 0)


def test_targets_are_shares_and_the_weight_of_all_rows_stays(lesson):
    _, rows, _, told = lesson
    np.testing.assert_allclose(told.y.sum(axis=1), 1)
    np.testing.assert_allclose(told.weight.sum(), rows.weight.sum())
    own = told.y[np.arange(len(rows)), rows.y[:, 0].astype(int)]
    assert (own >= 0.3).all(), "a row's own class keeps its part whatever the teachers say"


def test_a_made_up_row_has_categories_and_counts_that_exist_and_lies_among_the_others(lesson):
    _, rows, codes, told = lesson
    made = told.x[len(rows) :]
    for place in (1, int(np.flatnonzero(codes)[0])):
        assert set(np.unique(made[:, place])) <= set(np.unique(rows.x[:, place]))
    low, high = rows.x[:, 0].min(), rows.x[:, 0].max()
    assert np.mean((made[:, 0] >= low) & (made[:, 0] <= high)) > 0.95
    assert len(np.unique(made[:, 0])) > 5 * len(rows)


def test_there_are_no_teachers_where_nothing_speaks_for_them(lesson):
    model, rows, _, _ = lesson
    assert _are_to_be_taught(model, rows)
    for options in ({"max_updates": 20}, {"max_rules": 9}, {"max_premises": 3}, {"max_size": 20}):
        asked = model.set_params(**options)
        assert not _are_to_be_taught(asked, rows)
        assert _are_to_be_taught(asked.set_params(taught=True), rows)
        model.set_params(**dict.fromkeys(options), taught="auto")
    assert not _are_to_be_taught(model.set_params(taught=False), rows)
    model.set_params(taught="auto")
    assert not _are_to_be_taught(model, type(rows)(rows.x, np.zeros_like(rows.y), rows.weight))
    assert not _are_to_be_taught(model, rows.part(np.arange(10)))
    many = -(-MOST_ROWS // len(rows)) + 1
    assert not _are_to_be_taught(model, rows.part(np.tile(np.arange(len(rows)), many)))
    assert not _are_to_be_taught(npl.NeuroFuzzyRegressor(readable=True), rows)


def test_taught_is_true_or_false_or_auto():
    with pytest.raises(npl.ConfigError, match="taught must be True, False or 'auto'"):
        npl.NeuroFuzzyClassifier(taught="often").fit([[0.0], [1.0]], [0, 1])
