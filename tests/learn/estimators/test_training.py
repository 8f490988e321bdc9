"""The parts of an update: Adam, restraint, batches, threads."""

import copy

import numpy as np
import pytest
import torch

pytest.importorskip("sklearn")

import neuroplastic as npl
from neuroplastic.learn.estimators import adam as adam_module
from neuroplastic.learn.estimators import start, training
from neuroplastic.learn.estimators.adam import BETAS, PREMISE_PACE, Adam
from neuroplastic.learn.estimators.rows import Rows
from neuroplastic.learn.estimators.training import Plan, Tensors, restrain, threads_worth_it


def network():
    torch.manual_seed(0)
    return npl.NeuroFuzzyNetwork(4, 3, 5, firing=npl.Firing(alpha=1.0))


def test_adam_moves_as_pytorchs_does():
    ours = network()
    theirs = copy.deepcopy(ours)
    adam = Adam(ours)
    consequents = [theirs.weight, theirs.bias]
    others = [own for own in theirs.parameters() if all(own is not one for one in consequents)]
    groups = [{"params": consequents, "lr": 0.01}, {"params": others, "lr": 0.01 * PREMISE_PACE}]
    reference = torch.optim.Adam(groups, betas=BETAS, eps=adam_module.EPSILON)
    for _ in range(5):
        gradients = tuple(torch.randn_like(own) for own in adam.parameters)
        for own, gradient in zip([*consequents, *others], gradients, strict=True):
            own.grad = gradient.clone()
        adam.step(gradients, 0.01)
        reference.step()
    for own, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(own, other)


def test_adam_leaves_a_parameter_alone_that_asks_for_no_gradient():
    net = network()
    net.centers.requires_grad_(False)
    assert len(Adam(net).parameters) == len(list(net.parameters())) - 1


def test_restraint_is_the_gradient_of_its_penalty():
    weight = torch.randn(5, 3, 4, dtype=torch.float64, requires_grad=True)
    plan = Plan(updates=1, batch_size=1, learning_rate=0.1, ridge=2.0, shrinkage=0.7)
    shared = weight.mean(dim=0)
    penalty = plan.ridge * shared.square().sum() + plan.shrinkage * (weight - shared).square().sum()
    (expected,) = torch.autograd.grad(penalty / (2 * 50), weight)
    found = torch.zeros_like(weight)
    restrain(found, weight.detach(), plan, 50)
    torch.testing.assert_close(found, expected)


def test_a_pass_of_batches_has_every_row_once_with_its_target_and_weight():
    rows = Rows(np.arange(24.0).reshape(12, 2), np.arange(12.0)[:, None], np.arange(1.0, 13.0))
    data = Tensors(network(), rows, labels=True)
    batches = data.batches(4, np.random.RandomState(0))
    seen = [next(batches) for _ in range(3)]
    assert sorted(torch.cat([batch.y for batch in seen]).tolist()) == list(range(12))
    for batch in seen:
        assert batch.x[:, 0].tolist() == (2 * batch.y).tolist()
        assert batch.weight.tolist() == (batch.y + 1).tolist()


def test_small_steps_take_one_thread_and_large_ones_all(monkeypatch):
    net, before = network(), torch.get_num_threads()
    monkeypatch.setattr(training, "ENOUGH_FOR_THREADS", 10 * net.weight.numel())
    torch.set_num_threads(2)
    try:
        with threads_worth_it(net, 9):
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 2
        with threads_worth_it(net, 10):
            assert torch.get_num_threads() == 2
        with pytest.raises(ZeroDivisionError), threads_worth_it(net, 9):
            1 / 0  # noqa: B018
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_clusters_of_very_many_rows_are_found_in_a_part_of_them(monkeypatch):
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(-3, 1, (300, 2)), rng.normal(3, 1, (300, 2))])
    y = np.repeat([0, 1], 300)
    seen = []
    fit = start.KMeans.fit
    monkeypatch.setattr(start, "ENOUGH_TO_CLUSTER", 100)
    monkeypatch.setattr(
        start.KMeans, "fit", lambda self, x, **given: (seen.append(len(x)), fit(self, x, **given))[1]
    )
    model = npl.NeuroFuzzyClassifier(4, random_state=0).start(x, y)
    assert seen == [100]
    assert model.score(x, y) > 0.98
