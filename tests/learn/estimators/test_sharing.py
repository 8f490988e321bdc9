"""Few rules share a decision, and limits are reached step by step."""

import numpy as np
import pytest
import torch

from neuroplastic.learn.estimators.readable.draft import Draft
from neuroplastic.learn.estimators.readable.fitting import TURNS, asked_of
from neuroplastic.learn.estimators.readable.limits import Limits
from neuroplastic.learn.estimators.readable.sharing import MOST_SHARING, let_few_decide, sharing
from neuroplastic.learn.estimators.rows import Rows


@pytest.fixture
def many_alike():
    """A network of twelve rules whose sets overlap widely, and rows."""
    rng = np.random.default_rng(0)
    draft = Draft(
        np.linspace(-2, 2, 12)[None],
        np.full((1, 12), 0.8),
        np.zeros(1, dtype=bool),
        np.arange(12)[:, None],
        rng.normal(size=(12, 2)),
    )
    return draft, Rows(rng.normal(size=(80, 1)), np.zeros((80, 1)), rng.uniform(0.5, 2, size=80))


def test_rules_that_share_a_decision_are_counted_as_the_diagnosis_does(many_alike):
    draft, rows = many_alike
    with torch.no_grad():
        firing = draft.network(0).eval().firing(torch.from_numpy(rows.x).float()).double().numpy()
    held = np.cumsum(-np.sort(-firing, axis=1), axis=1)
    expected = np.average((held < 0.95).sum(axis=1) + 1, weights=rows.weight)
    assert sharing(draft.worst_distances(rows.x), draft.gain, rows.weight) == pytest.approx(expected)


def test_the_gain_rises_until_few_rules_decide_and_no_further(many_alike):
    draft, rows = many_alike
    net = draft.network(0)
    worst = draft.worst_distances(rows.x)
    assert sharing(worst, draft.gain, rows.weight) > MOST_SHARING
    let_few_decide(net, rows)
    gain = net.gain.item()
    assert sharing(worst, gain, rows.weight) <= MOST_SHARING < sharing(worst, gain / 1.06, rows.weight)
    let_few_decide(net, rows)
    assert net.gain.item() == gain


def test_limits_and_price_come_nearer_with_every_turn_until_they_are_those_given():
    limits = Limits(rules=3, premises=2, size=10)
    steps = [asked_of(turn, limits, 6.0, 50, in_steps=True) for turn in range(TURNS - 1)]
    assert steps[-1] == (limits, 6.0)
    assert [price for _, price in steps] == [1, 2, 3, 4, 5, 6]
    sizes, longest = [now.size for now, _ in steps], [now.premises for now, _ in steps]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == 50
    assert longest == sorted(longest, reverse=True)
    assert longest[0] == 4
    assert all(now.rules is None for now, _ in steps[:-1])
    assert asked_of(0, limits, 6.0, 50, in_steps=False) == (Limits(premises=2, size=50), 6.0)
