"""The price of rules that fire unevenly enters through the backward pass and is that of an explicit penalty."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests import reference
from tests.random_network import Setup, array


def penalty(firing):
    """sum_u f_u log(U f_u) of the mean firing over the batch, for autograd; a rule that never fires adds 0."""
    mean = firing.mean(dim=0)
    fires = mean[mean > 0]
    return (fires * (firing.shape[1] * fires).log()).sum()


def twins(weight=0.3, **options):
    """A network with a price and one without, otherwise equal, and inputs."""
    setup = Setup(D=5, U=9, balance=weight, noise_hold=10**6, **options)
    x = torch.tensor(np.random.default_rng(6).normal(size=(12, 5)))
    return setup.network(), replace(setup, balance=0.0).network(), x


def gradients(net, loss):
    grads = torch.autograd.grad(loss, list(net.parameters()), allow_unused=True)
    return [
        torch.zeros_like(p) if grad is None else grad for p, grad in zip(net.parameters(), grads, strict=True)
    ]


@pytest.mark.parametrize("estimator", ["ste", "stge"])
@pytest.mark.parametrize("alpha", [1.0, 1.5])
@pytest.mark.parametrize("reduce", ["sum", "scaled", "worst"])
def test_gradients_are_those_of_the_penalty_in_the_loss(estimator, alpha, reduce):
    priced, plain, x = twins(estimator=estimator, alpha=alpha, reduce=reduce)
    y, z = priced(x), plain(x)
    assert torch.equal(y, z)
    found = gradients(priced, y.square().mean())
    wanted = gradients(plain, z.square().mean() + 0.3 * penalty(plain.firing(x)))
    for name, ours, theirs in zip(dict(priced.named_parameters()), found, wanted, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-11, msg=name)


def test_the_explicit_penalty_is_the_oracles():
    net, _, x = twins()
    firing = net.firing(x)
    assert float(penalty(firing).detach()) == pytest.approx(
        reference.balance_penalty(array(firing)), rel=1e-12
    )


def test_a_scaled_loss_leaves_the_price_as_it_is_and_every_backward_pass_pays_it():
    priced, plain, x = twins()
    found = gradients(priced, 1000 * priced(x).square().mean())
    wanted = gradients(plain, 1000 * plain(x).square().mean() + 0.3 * penalty(plain.firing(x)))
    for ours, theirs in zip(found, wanted, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-9)
    once = gradients(priced, 0 * priced(x).sum())
    twice = gradients(priced, 0 * (priced(x) + priced(x)).sum())
    for one, two in zip(once, twice, strict=True):
        torch.testing.assert_close(two, 2 * one)
    assert any(bool(grad.any()) for grad in once)


def test_evaluation_pays_nothing():
    priced, plain, x = twins()
    priced.eval(), plain.eval()
    found, wanted = (gradients(net, net(x).square().mean()) for net in (priced, plain))
    for ours, theirs in zip(found, wanted, strict=True):
        assert torch.equal(ours, theirs)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("alpha", [1.0, 1.5, 2.0])
def test_rules_that_never_fire_make_no_nan(alpha, dtype):
    setup = Setup(D=20, U=9, balance=1.0, alpha=alpha, layer_norm=False)
    net, x = setup.network(dtype=dtype), 30 * torch.randn(4, 20, dtype=dtype)
    assert (net.firing(x).mean(dim=0) == 0).any()
    net(x).sum().backward()
    assert all(p.grad is None or torch.isfinite(p.grad).all() for p in net.parameters())


def test_the_price_alone_spreads_the_work_over_the_rules():
    net, _, x = twins(weight=1.0, alpha=1.0, layer_norm=False, estimator="ste", reduce="scaled")
    optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
    before = float(penalty(net.firing(x)).detach())
    for _ in range(60):
        optimizer.zero_grad()
        (0 * net(x).sum()).backward()
        optimizer.step()
    assert float(penalty(net.firing(x)).detach()) < before / 4


def test_an_empty_batch_pays_nothing():
    net, _, _ = twins()
    net(torch.zeros(0, 5, dtype=torch.float64)).sum().backward()
    assert all(p.grad is None or not p.grad.any() for p in net.parameters())
