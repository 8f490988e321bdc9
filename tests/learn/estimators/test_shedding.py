"""What a premise or a rule is worth, by sums that are kept, is what it is worth by fitting everything anew."""

from dataclasses import replace

import numpy as np
import torch
import torch.nn.functional as F

from neuroplastic.learn.estimators.readable.draft import ANY, Draft
from neuroplastic.learn.estimators.readable.limits import Limits
from neuroplastic.learn.estimators.readable.shedding import _choices, _worst, shed
from neuroplastic.learn.estimators.rows import Rows
from neuroplastic.learn.estimators.training import Tensors


def loss(outputs, targets):
    return F.cross_entropy(outputs, targets, reduction="none")


def some_draft(rng):
    premises = rng.integers(-1, 3, size=(6, 4))
    premises[:, 0] = 0
    return Draft(
        rng.normal(size=(4, 3)),
        rng.uniform(0.05, 2, size=(4, 3)),
        np.zeros(4, dtype=bool),
        premises,
        rng.normal(size=(6, 3)),
    )


def mean_loss(draft, x, y, weight):
    worst = torch.stack([_worst(torch.from_numpy(parts)) for parts in draft.distances(x.numpy())], dim=1)
    outputs = torch.softmax(-draft.gain * worst, dim=1) @ torch.from_numpy(draft.outputs)
    return float((loss(outputs, y) * weight).sum() / weight.sum())


def test_costs_are_those_of_the_draft_without_the_premise_or_rule():
    rng = np.random.default_rng(0)
    draft, x = some_draft(rng), torch.from_numpy(3 * rng.normal(size=(50, 4)))
    rows = x, torch.from_numpy(rng.integers(3, size=50)), torch.from_numpy(rng.uniform(size=50))
    now, seen = mean_loss(draft, *rows), 0
    for cost, rule, column in _choices(draft, rows, loss, Limits()):
        if column == ANY:
            without, share = draft.kept(np.arange(6) != rule), (draft.premises[rule] != ANY).sum()
        else:
            premises, share = draft.premises.copy(), 1
            premises[rule, column] = ANY
            without = replace(draft, premises=premises)
        np.testing.assert_allclose(cost, (mean_loss(without, *rows) - now) / share, rtol=1e-9, atol=1e-12)
        seen += 1
    lengths = (draft.premises != ANY).sum(axis=1)
    assert seen == 6 + lengths[lengths > 1].sum()


def test_a_rule_that_alone_reaches_a_row_can_still_be_priced():
    rng = np.random.default_rng(1)
    draft = replace(some_draft(rng), widths=np.full((4, 3), 1e-3))
    x = torch.from_numpy(rng.normal(size=(20, 4)))
    rows = x, torch.from_numpy(rng.integers(3, size=20)), torch.ones(20, dtype=torch.float64)
    assert all(np.isfinite(choice.cost) for choice in _choices(draft, rows, loss, Limits()))


def test_a_limit_on_length_takes_no_rule_that_is_short_enough():
    rng = np.random.default_rng(2)
    premises = np.full((6, 4), ANY)
    premises[0], premises[1:, 0] = 0, [1, 1, 1, 2, 2]  # one long rule, and five that nobody would miss
    draft = replace(some_draft(rng), premises=premises, outputs=np.eye(6, 3) * 5)
    x = rng.normal(size=(200, 4))
    leads = draft.worst_distances(x).argmin(axis=1)
    rows = Rows(x, np.where(leads == 0, 0.0, 1.0)[:, None], np.ones(200))
    data = Tensors(draft.network(0), rows, labels=True)
    short = shed(draft, data, loss, Limits(premises=2, size=40), -np.inf)
    assert (short.premises[-5:] == premises[1:]).all()
    assert len(short.premises) == 5 or (short.premises[0] != ANY).sum() == 2
