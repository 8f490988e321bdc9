"""Gumbel noise of the premise selection: its law, its life, and who may renew it."""

import math

import numpy as np
import pytest
import torch

import neuroplastic as npl
from tests.random_network import Setup, array

pytestmark = pytest.mark.usefixtures("path")


def network(**options):
    net = Setup(**options).network(mask=np.ones((4, 4), bool))
    return net.train(), torch.randn(3, 4, dtype=torch.float64)


@pytest.mark.parametrize("hold", [1, 2, 5])
def test_noise_is_kept_for_exactly_noise_hold_passes(hold):
    net, x = network(noise_hold=hold)
    seen = []
    for _ in range(3 * hold):
        net(x)
        seen.append(net.noise().clone())
    for k in range(1, 3 * hold):
        assert torch.equal(seen[k], seen[k - 1]) == (k % hold != 0), f"pass {k + 1}"


def test_asking_for_firing_or_evaluating_does_not_age_the_noise():
    net, x = network(noise_hold=2)
    net(x)
    first = net.noise().clone()
    for _ in range(5):
        net.log_firing(x), net.firing(x)
        net.eval()(x)
        net.train()
    assert torch.equal(net.noise(), first)
    net(x)
    assert torch.equal(net.noise(), first)
    net(x)
    assert not torch.equal(net.noise(), first)


def test_noise_is_zero_in_evaluation_and_with_the_plain_estimator():
    net, x = network()
    net(x)
    assert net.noise().abs().sum() > 0
    assert net.eval().noise().shape == (4, 4, 6)
    assert not net.noise().any()
    plain, x = network(estimator="ste")
    plain(x)
    assert not plain.noise().any()


def test_noise_follows_the_standard_gumbel_law():
    net = npl.NeuroFuzzyNetwork(100, 1, 128, terms=4, max_terms=4)
    net(torch.rand(2, 100))
    sample = np.sort(array(net.noise()).ravel())
    law = np.exp(-np.exp(-sample))
    distance = np.abs(law - (np.arange(len(sample)) + 0.5) / len(sample)).max()
    assert distance < 1.95 / math.sqrt(len(sample))  # Kolmogorov-Smirnov at 0.1 %
    flat = array(net.noise()).reshape(4, -1)
    assert np.abs(np.corrcoef(flat) - np.eye(4)).max() < 0.05


def test_one_noise_serves_the_whole_batch():
    net, x = network()
    twice = torch.cat([x, x])
    net(twice)
    w = net.log_firing(twice)
    torch.testing.assert_close(w[:3], w[3:], rtol=1e-12, atol=1e-12)


def test_the_same_seed_draws_the_same_noise():
    draws = []
    for _ in range(2):
        net, x = network()
        torch.manual_seed(5)
        net(x)
        draws.append(net.noise().clone())
    assert torch.equal(*draws)
