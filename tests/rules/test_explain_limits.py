"""Counterfactuals stay inside the data: numbers within what training saw, categories among themselves."""

import numpy as np
import pandas as pd
import pytest
import torch

import neuroplastic as npl
from neuroplastic.learn.estimators.encoding import Encoder
from neuroplastic.rules.explanations.limits import Choice, Limits
from neuroplastic.rules.explanations.taking_over import nearest_changes


class WithCodes(npl.NeuroFuzzyClassifier):
    """Rules that ask for categories by their codes."""

    def _encoder(self, columns):
        return Encoder(columns, "codes")


def rows(count: int = 200) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": rng.normal(5, 2, count),
            "left": rng.choice(["a", "b", "c"], count),
            "right": rng.choice(["a", "b"], count),
        }
    )
    return frame, np.where((frame["left"] == frame["right"]) ^ (frame["size"] > 6), "yes", "no")


@pytest.fixture(scope="module")
def numbers():
    x = np.random.default_rng(0).normal(size=(200, 3))
    return x, npl.NeuroFuzzyClassifier(rules=6, max_updates=60, random_state=0).fit(x, x[:, 0] * x[:, 1] > 0)


def test_a_change_never_leads_beyond_what_training_saw(numbers):
    x, model = numbers
    explained = model.explain(x)
    low, high = model.limits_
    assert (low == x.min(axis=0)).all()
    assert (high == x.max(axis=0)).all()
    changes = [change for change in explained.changes if change is not None]
    assert changes
    assert all(low[c.attribute] - 1e-9 <= c.to <= high[c.attribute] + 1e-9 for c in changes)


def test_limits_change_only_what_leads_beyond_them(numbers):
    x, model = numbers
    explained = model.explain(x)
    free = nearest_changes(explained.scoring, explained.x, explained.alternatives)
    low, high = model.limits_
    shut = 0
    for within, anywhere in zip(explained.changes, free, strict=True):
        if anywhere is None or low[anywhere.attribute] <= anywhere.to <= high[anywhere.attribute]:
            assert within == anywhere
        else:
            shut += 1
            assert within is None or within.steps >= anywhere.steps
    assert shut, "some of the changes must be such that limits matter"


def test_a_value_beyond_the_limits_may_come_back_but_go_no_farther(numbers):
    x, model = numbers
    far = x.copy()
    far[:, 0] = model.limits_[1, 0] + 3
    for change in model.explain(far).changes:
        assert change is None or change.attribute != 0 or change.to < far[0, 0]


def test_limits_hold_where_rules_are_compared_by_their_worst_premise():
    torch.manual_seed(0)
    net = npl.NeuroFuzzyNetwork(
        3, 1, rules=6, terms=4, firing=npl.Firing(reduce="worst", layer_norm=False), dtype=torch.float64
    )
    x = np.random.default_rng(0).uniform(0, 1, (40, 3))
    free = npl.explain(net, x)
    limits = Limits(x.min(axis=0), x.max(axis=0))
    within = nearest_changes(free.scoring, x, free.alternatives, limits)
    shut = 0
    for inside, anywhere in zip(within, free.changes, strict=True):
        assert inside is None or limits.low[inside.attribute] <= inside.to <= limits.high[inside.attribute]
        if (
            anywhere is None
            or limits.low[anywhere.attribute] <= anywhere.to <= limits.high[anywhere.attribute]
        ):
            assert inside == anywhere
        else:
            shut += 1
    assert shut


@pytest.mark.parametrize("kind", ["codes", "both"])
def test_a_category_becomes_another_one_and_the_alternative_then_leads(kind):
    x, y = rows()
    if kind == "both":
        x, y = x[["left", "right"]], np.where(x["left"] == x["right"], "same", "other")
    made = WithCodes if kind == "codes" else npl.NeuroFuzzyClassifier
    model = made(rules=6, max_updates=60, random_state=0).fit(x, y)
    explained = model.explain(x)
    flipped = 0
    for row, change in enumerate(explained.changes):
        if change is None or change.words is None:
            assert (
                change is None
                or change.steps == 0
                or model.encoder_.inputs[change.attribute].role == "number"
            )
            continue
        name, _, rest = change.words.partition(" were ")
        new, _, old = rest.partition(" instead of ")
        assert x[name].iloc[row] == old != new
        again = model.explain(x.iloc[[row]].assign(**{name: new}))
        scores = again.scores[0]
        assert scores[explained.alternatives[row]] >= scores.max() - 1e-9
        flipped += 1
    assert flipped
    told = [explained.text(row) for row, change in enumerate(explained.changes) if change and change.words]
    assert " instead of " in told[0]
    assert "(it is " in told[0]


def test_values_of_a_choice_must_fit_its_attributes():
    with pytest.raises(npl.ConfigError, match=r"values of 'left' must have shape \(2, 1\)"):
        Choice("left", (0,), ("a", "b"), np.zeros((2, 2)))
    choice = Choice("left", (1,), ("a", "b"), np.array([[0.0], [1.0]]))
    assert choice.places(np.array([[9.0, 1.0], [9.0, -1.0]])).tolist() == [1, -1]
    reach = Limits(np.zeros(2), np.ones(2), (choice,)).reach(np.array([[0.25, 0.0]]), np.array([0.5, 1.0]))
    assert reach.tolist() == [[1.5, -1.0, 0.5, -1.0]]
