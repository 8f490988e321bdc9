"""Explanations tell what a row has where the network saw another value: beyond the usual range, or none at all."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import neuroplastic as npl
from neuroplastic.rules.pictures import plot_explanation
from neuroplastic.usecases.answer_changes import answer_change


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"debt": rng.uniform(0, 10, 120), "city": rng.choice(["Bonn", "Ulm"], 120)})
    y = np.where((X["debt"] > 6) & (X["city"] == "Bonn"), "fails", "paid")
    X.loc[[3, 9], "debt"] = np.nan
    return npl.NeuroFuzzyClassifier(readable=True, max_updates=40, random_state=0).fit(X, y)


def row(debt, city="Bonn"):
    return pd.DataFrame({"debt": [debt], "city": [city]})


def test_a_clipped_value_is_told_beside_what_it_counts_as_and_changes_nothing_else(model):
    end = float(model.encode(row(50.0))[0, 0])
    clipped, usual = (npl.explain(model, row(debt)) for debt in (50.0, end))
    assert f"(50, counted as {end:.4g}, fits " in clipped.text()
    assert clipped.text().replace("50, counted as ", "") == usual.text()
    assert usual.given is None
    for name in ("x", "output", "fired", "firing", "shares"):
        np.testing.assert_array_equal(getattr(clipped, name), getattr(usual, name))


def test_a_missing_value_is_never_told_as_if_the_row_had_it(model):
    (fill,) = (column.fill for column in model.columns_ if column.name == "debt")
    blank, filled = (npl.explain(model, row(debt)) for debt in (np.nan, fill))
    assert f"(missing, taken as {fill:.4g}, fits " in blank.text()
    np.testing.assert_array_equal(blank.shares, filled.shares)
    told = answer_change(model, blank.x[0], blank[0].given)
    assert told.startswith(f"the answer would be fails if debt, missing and taken as {fill:.4g}, rose past ")
    assert "from" not in blank.text()
    drawn = " ".join(
        label.get_text() for axes in plot_explanation(blank).axes for label in axes.get_yticklabels()
    )
    assert f"missing, taken as {fill:.4g}" in drawn


def test_a_missing_category_is_told_as_missing(model):
    taken = npl.explain(model, row(9.0, None)).text()
    assert "(it is missing, taken as " in taken
    assert "(it is Bonn, " in npl.explain(model, row(9.0)).text()


def test_a_change_to_what_would_be_clipped_is_not_told_for_it_changes_nothing():
    rng = np.random.default_rng(0)
    debt, age, rate = np.exp(rng.normal(0, 1.5, 200)), rng.uniform(0, 1, 200), np.exp(rng.normal(0, 1.5, 200))
    X = pd.DataFrame({"debt": debt, "age": age, "rate": rate})
    y = np.where(debt * age > 4, "fails", "paid")
    model = npl.NeuroFuzzyClassifier(readable=True, max_updates=40, random_state=0).fit(X, y)
    low, high = model.clip_
    assert (model.limits_[1] > high).any(), "rows of training lie beyond the clip"
    changes = [change for change in npl.explain(model, X).changes if change is not None and change.steps > 0]
    assert len(changes) > 100
    for change in changes:
        assert low[change.attribute] <= change.to <= high[change.attribute]


def test_a_rule_that_speaks_against_the_answer_says_so():
    rules = "IF x is low THEN calm is 1 AND storm is 3\nIF x is high THEN calm is 9 AND storm is 0"
    net = npl.from_rules(rules, {"x": {"low": (0.0, 1.0), "high": (2.0, 1.0)}})
    told = replace(npl.explain(net, [[0.9]]), rules=replace(npl.rule_base(net), classes=True)).text()
    assert told.startswith("calm = ")
    assert "rule 1 fired 55 % and added +0.5498 to calm, but speaks for storm: IF x is low" in told
    assert "to calm: IF x is high" in told
