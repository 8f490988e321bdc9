"""The price of rules that fire where they do not fit enters through the backward pass, as an explicit penalty would."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

import neuroplastic as npl
from tests import reference
from tests.random_network import Setup, array


def penalty(net, x):
    """mean_b sum_u f_u max(0, d_u - log 2) of the distance d_u of the worst premise, for autograd."""
    worst = net.antecedent.log_firing(x)
    return (net.firing(x) * (-worst - math.log(2)).clamp_min(0)).sum(dim=1).mean()


def twins(weight=0.4, **options):
    """A network with a price and one without, otherwise equal, and inputs."""
    setup = Setup(D=4, U=7, reduce="worst", fitting=weight, noise_hold=10**6, **options)
    x = torch.tensor(np.random.default_rng(8).normal(size=(11, 4)))
    return setup.network(), replace(setup, fitting=0.0).network(), x


@pytest.mark.parametrize("estimator", ["ste", "stge"])
@pytest.mark.parametrize("alpha", [1.0, 1.5])
@pytest.mark.parametrize("layer_norm", [False, True])
def test_gradients_are_those_of_the_penalty_in_the_loss(estimator, alpha, layer_norm):
    priced, plain, x = twins(estimator=estimator, alpha=alpha, layer_norm=layer_norm)
    y, z = priced(x), plain(x)
    assert torch.equal(y, z)
    names = [name for name, _ in priced.named_parameters()]
    found = torch.autograd.grad(y.square().mean(), list(priced.parameters()), allow_unused=True)
    wanted = torch.autograd.grad(
        z.square().mean() + 0.4 * penalty(plain, x), list(plain.parameters()), allow_unused=True
    )
    for name, ours, theirs in zip(names, found, wanted, strict=True):
        assert (ours is None) == (theirs is None), name
        if ours is not None:
            torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-11, msg=name)


def test_the_explicit_penalty_is_the_oracles_and_not_nothing():
    net, _, x = twins()
    net.eval()
    with torch.no_grad():
        firing, worst, ours = net.firing(x), net.antecedent.log_firing(x), float(penalty(net, x))
    assert ours == pytest.approx(reference.fitting_penalty(array(firing), array(worst)), rel=1e-12)
    assert ours > 0.01


def test_rules_that_fit_wherever_they_fire_pay_nothing():
    net, plain, _ = twins()
    x = torch.zeros(3, 4, dtype=torch.float64)
    for one in (net, plain):
        one.place_sets(torch.zeros_like(one.centers), torch.full_like(one.centers, 5.0))
    ours, theirs = (torch.autograd.grad(one(x).sum(), one.bias)[0] for one in (net, plain))
    assert torch.equal(ours, theirs)


def test_the_price_needs_rules_that_are_compared_by_their_worst_premise():
    with pytest.raises(
        npl.ConfigError, match=r"firing\.fitting needs rules that are compared by their worst premise"
    ):
        npl.Firing("sum", fitting=0.1)
    with pytest.raises(npl.ConfigError, match=r"firing\.fitting must"):
        npl.Firing("worst", fitting=-1.0)
