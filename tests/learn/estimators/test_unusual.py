"""Rows unlike those of training: what is found, in which rows, and in how many words."""

import warnings

import numpy as np
import pandas as pd
import pytest

import neuroplastic as npl

ROWS = 60


@pytest.fixture(scope="module")
def table() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": np.linspace(18, 90, ROWS).round(),
            "town": np.resize(["Bern", "Rome", "Rome"], ROWS),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(ROWS) % 29, unit="D"),
            "noise": rng.normal(size=ROWS),
        }
    )
    return frame, np.where((frame["age"] > 50) ^ (frame["town"] == "Bern"), "yes", "no")


@pytest.fixture(scope="module")
def model(table):
    return npl.NeuroFuzzyClassifier(rules=2, max_updates=1, random_state=0).fit(*table)


def test_rows_of_training_are_not_unusual(model, table):
    found = model.unusual(table[0])
    assert (str(found), found.findings, found.rows.any()) == ("", (), False)
    assert found.notes() == [""] * ROWS


def test_values_outside_missing_and_unseen_are_counted_by_column_and_told_by_row(model, table):
    new = table[0].head(4).copy()
    new["age"] = [17.0, 91.0, np.nan, 50.0]
    new["town"] = ["Oslo", None, "Rome", "Rome"]
    new["since"] = pd.to_datetime(["2020-01-05", "2020-01-05", "2021-06-01", "2020-01-05"])
    found = model.unusual(new)
    assert found.rows.tolist() == [True, True, True, False]
    assert str(found) == (
        "3 rows of 4 unlike those of training: "
        "'age' is outside the range of training in 2 rows (18 to 90), "
        f"'age' is missing in 1 row (taken as {np.median(table[0]['age']):g}), "
        "'town' is a category never seen in training in 1 row ('Oslo'), "
        "'town' is missing in 1 row (taken as 'Rome'), and 1 more"
    )
    assert found.notes()[0] == (
        "age is outside the range of training (18 to 90); town is a category never seen in training"
    )
    assert found.notes()[2].endswith("since is outside the range of training (2020-01-01 to 2020-01-29)")
    assert found.notes()[3] == ""


def test_a_missing_category_that_training_had_too_is_one_as_good_as_the_others(table):
    x, y = table
    x = x.assign(town=x["town"].where(np.arange(ROWS) % 7 > 0))
    known = npl.NeuroFuzzyClassifier(rules=2, max_updates=1, random_state=0).fit(x, y)
    assert not known.unusual(x).findings


def test_columns_that_no_rule_asks_for_do_not_count(table):
    x, y = table
    short = npl.NeuroFuzzyClassifier(readable=True, max_rules=3, max_updates=20).fit(x, y)
    asked = {variable.name for rule in short.rules_ for variable, _ in rule.premises}
    assert "noise" not in asked
    assert "age" in asked
    assert [finding.column for finding in short.unusual(x.assign(noise=1e3, age=99.0)).findings] == ["age"]


def test_numbers_in_arrays_are_looked_at_and_predict_does_not_warn_of_them():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    number = npl.NeuroFuzzyRegressor(rules=2, max_updates=1, random_state=0).fit(x, y)
    new = np.array([[9.0, 0.0], [np.nan, 0.0]])
    assert [finding.what for finding in number.unusual(new).findings] == [
        "outside the range of training",
        "missing",
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        number.predict(new)
