"""What would change a classifier's answer: the value that is told does, and one short of it does not."""

import re

import numpy as np
import pandas as pd

import neuroplastic as npl
from neuroplastic.usecases.answer_changes import answer_change


def test_past_the_value_that_is_told_another_class_is_named_and_short_of_it_none():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"debt": rng.uniform(0, 10, 120), "city": rng.choice(["Köln", "O'Neil"], 120)})
    y = np.where(X["debt"] > 6, "fails", "paid")
    model = npl.NeuroFuzzyClassifier(readable=True, max_updates=40, random_state=0).fit(X, y)
    row = pd.DataFrame({"debt": [3.0], "city": ["Köln"]})
    told = answer_change(model, model.encode(row)[0])
    found = re.fullmatch(r"the answer would be fails if debt rose from 3 past (.*)", told)
    assert found is not None, told
    past, short = (row.assign(debt=float(found[1]) + step) for step in (0.01, -0.01))
    assert model.predict(past) == ["fails"]
    assert model.predict(short) == ["paid"]


def test_where_nothing_alters_the_answer_that_is_said():
    X = pd.DataFrame({"debt": np.linspace(0, 10, 40)})
    model = npl.NeuroFuzzyClassifier(readable=True, max_updates=5, random_state=0).fit(X, ["paid"] * 40)
    assert answer_change(model, np.array([3.0])).startswith("no change of a single column")
