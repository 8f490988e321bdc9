"""A set of infinite width means "any": the rules that choose it ignore the attribute."""

import math

import pytest
import torch

import neuroplastic as npl


def ignoring_second(dtype: torch.dtype = torch.float64) -> npl.NeuroFuzzyNetwork:
    """Two attributes; every rule asks of the first and takes the second as it is."""
    torch.manual_seed(0)
    net = npl.NeuroFuzzyNetwork(
        2, 1, rules=3, terms=2, max_terms=3, consequent="constant", neurogenesis=None, dtype=dtype
    )
    net.place_sets(
        torch.tensor([[0.0, 1.0, 0.5], [0.0, 0.0, 0.0]]),
        torch.tensor([[0.4, 0.4, 0.4], [math.inf, math.inf, math.inf]]),
    )
    return net


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_an_ignored_attribute_changes_nothing(dtype):
    net = ignoring_second(dtype).eval()
    x = torch.rand(5, 2, dtype=dtype)
    moved = x.clone()
    moved[:, 1] = torch.linspace(-9, 9, 5).to(dtype)
    torch.testing.assert_close(net(x), net(moved), rtol=0, atol=1e-6)


def test_any_trains_without_nan():
    net = ignoring_second(torch.float32)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.1, weight_decay=0.01)
    for _ in range(20):
        optimizer.zero_grad()
        (net(torch.rand(8, 2)) - 1).square().mean().backward()
        optimizer.step()
    assert all(torch.isfinite(p).all() for p in net.parameters())
    assert net.antecedent.any_mask[1].all()
    assert not net.antecedent.any_mask[0].any()


def test_any_covers_nothing_so_a_set_is_born_beside_it():
    net = npl.NeuroFuzzyNetwork(
        1, 1, rules=2, terms=1, max_terms=2, neurogenesis=npl.Neurogenesis(delay=1), dtype=torch.float64
    )
    net.place_sets(
        torch.zeros(1, 2, dtype=torch.float64),
        torch.tensor([[math.inf, 1.0]]),
        torch.tensor([[True, False]]),
    )
    x = torch.tensor([[3.0], [4.0]], dtype=torch.float64)
    assert not net.covered(x).any()
    net(x)
    assert [birth.center for birth in net.births] == [3.5]
    assert net.covered(x).all()


def test_any_outlives_weight_decay():
    net = ignoring_second(torch.float32)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, weight_decay=0.1)
    for _ in range(500):
        optimizer.zero_grad()
        net(torch.rand(4, 2)).mean().backward()
        optimizer.step()
    assert net.antecedent.any_mask[1].all()
