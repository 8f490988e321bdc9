"""Degenerate and extreme input: zero variance, one rule, tied rules, 1e30, half precision; never a NaN."""

import numpy as np
import pytest
import torch

import neuroplastic as npl
from tests import reference
from tests.random_network import Setup, alpha_of, array, parameter_behind, place

pytestmark = pytest.mark.usefixtures("path")


def network(**options):
    torch.manual_seed(0)
    return npl.NeuroFuzzyNetwork(4, 2, 5, **options)


def assert_finite_gradients(net, *tensors):
    for tensor in (*net.parameters(), *tensors):
        assert tensor.grad is None or torch.isfinite(tensor.grad).all()


def test_zero_variance_attribute_grows_a_set_of_the_minimal_width():
    growth = npl.Neurogenesis(epsilon=0.3, delay=1, min_width=0.05)
    net = network(neurogenesis=growth, dtype=torch.float64)
    y = net(torch.full((8, 4), 20.0, dtype=torch.float64))
    assert torch.isfinite(y).all()
    assert [birth.width for birth in net.births] == pytest.approx([0.05] * 4)


@pytest.mark.parametrize("layer_norm", [True, False])
@pytest.mark.parametrize("alpha", [1.0, 1.3, 1.5, 2.0, "learn"])
def test_one_rule_fires_fully_and_its_decision_is_the_output(layer_norm, alpha):
    setup = Setup(U=1, layer_norm=layer_norm, alpha=alpha)
    net, x = setup.network().train(), torch.randn(6, 4, dtype=torch.float64, requires_grad=True)
    y = net(x)
    np.testing.assert_allclose(array(net.firing(x)), 1.0, rtol=1e-12)
    decisions = reference.affine_decisions(array(x), array(net.weight), array(net.bias))
    np.testing.assert_allclose(array(y), decisions[:, 0], rtol=1e-10)
    y.sum().backward()
    assert_finite_gradients(net, x)


@pytest.mark.parametrize("layer_norm", [True, False])
@pytest.mark.parametrize("alpha", [1.0, 1.3, 1.5, 2.0, "learn"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_tied_rules_share_the_firing_equally(layer_norm, alpha, dtype):
    net = network(firing=npl.Firing(alpha=alpha, layer_norm=layer_norm), dtype=dtype).eval()
    with torch.no_grad():
        net.logits.copy_(net.logits[:, :, :1].clone().expand_as(net.logits))
    x = torch.randn(6, 4, dtype=dtype, requires_grad=True)
    np.testing.assert_allclose(array(net.firing(x)), 0.2, rtol=1e-6)
    net(x).sum().backward()
    assert_finite_gradients(net, x)


@pytest.mark.parametrize("value", [1e30, -1e30, 3e38])
@pytest.mark.parametrize("width", [1e-3, 1.0])
@pytest.mark.parametrize("layer_norm", [True, False])
@pytest.mark.parametrize("alpha", [1.0, 1.5])
def test_huge_input_gives_finite_output_and_gradient(value, width, layer_norm, alpha):
    net = network(firing=npl.Firing(layer_norm=layer_norm, alpha=alpha), consequent="constant", max_terms=3)
    place(net, np.random.default_rng(0).random((4, 3)), np.full((4, 3), width), np.ones((4, 3), bool))
    x = torch.rand(3, 4)
    x[1, 2], x[2] = value, value
    x.requires_grad_()
    y = net(x)
    assert torch.isfinite(y).all()
    assert torch.isfinite(net.log_firing(x)).all()
    np.testing.assert_allclose(array(net.firing(x)).sum(1), 1.0, atol=1e-5)
    y.sum().backward()
    assert_finite_gradients(net, x)


def test_memberships_treat_a_huge_input_as_the_fourth_root_of_the_largest_number():
    net = network(dtype=torch.float64).eval()
    limit = torch.finfo(torch.float64).max ** 0.25
    beyond = net.log_firing(torch.full((1, 4), 1e100, dtype=torch.float64))
    at_the_limit = net.log_firing(torch.full((1, 4), limit, dtype=torch.float64))
    torch.testing.assert_close(beyond, at_the_limit, rtol=1e-12, atol=0.0)


def test_huge_input_gives_births_of_finite_sets():
    net = network(neurogenesis=npl.Neurogenesis(epsilon=0.3, delay=1))
    for value in (1e30, -1e30, 1e20):
        assert torch.isfinite(net(torch.full((3, 4), value) * torch.tensor([[1.0], [0.5], [0.1]]))).all()
    assert torch.isfinite(net.centers).all()
    assert torch.isfinite(net.widths).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("alpha", [1.0, 1.3, 1.5])
def test_half_precision_follows_single_precision(dtype, training, alpha):
    torch.manual_seed(0)
    firing, selection = npl.Firing(alpha=alpha), npl.Selection(estimator="ste")
    half = npl.NeuroFuzzyNetwork(50, 3, 40, firing=firing, selection=selection, dtype=dtype).train(training)
    single = npl.NeuroFuzzyNetwork(50, 3, 40, firing=firing, selection=selection).train(training)
    single.load_state_dict(half.state_dict())
    x = torch.rand(9, 50).to(dtype)
    y, expected = half(x), single(x.float())
    assert y.dtype == dtype
    scale = float(expected.detach().abs().max())
    torch.testing.assert_close(
        y.float(), expected, rtol=0.0, atol=2 * torch.finfo(dtype).eps * max(scale, 1.0)
    )
    y.float().sum().backward()
    assert torch.isfinite(half.logits.grad).all()


def test_half_precision_far_from_every_set_stays_finite():
    net = network(dtype=torch.float16)
    x = torch.tensor([[6e4, -6e4, 0.0, 1.0], [0.5, 0.5, 0.5, 6e4]], dtype=torch.float16)
    assert torch.isfinite(net.firing(x)).all()
    np.testing.assert_allclose(array(net.firing(x)).sum(1), 1.0, atol=1e-2)


def test_autocast_keeps_the_rule_part_in_single_precision():
    net, x = network().eval(), torch.rand(6, 4)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        inside = net.firing(x)
        y = net(x)
    np.testing.assert_allclose(array(inside), array(net.firing(x)), atol=1e-4)
    np.testing.assert_allclose(array(y), array(net(x)), atol=2e-2)


@pytest.mark.parametrize("raw", [-40.0, -18.0, -10.0, 10.0, 40.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_learnable_alpha_driven_to_its_bounds_is_almost_softmax_or_sparsemax(raw, dtype):
    setup = Setup(U=30, alpha="learn")
    net, x = setup.network(dtype=dtype), torch.randn(6, 4, dtype=dtype, requires_grad=True)
    _, behind = parameter_behind(net, net.alpha)
    with torch.no_grad():
        behind.fill_(raw)
    y = net(x)
    w = reference.layer_norm(array(net.log_firing(x)), array(net.kappa), array(net.beta))
    firing = array(net.firing(x))
    exact = 1e-4 if dtype == torch.float32 else 1e-8
    np.testing.assert_allclose(firing, reference.entmax(w, alpha_of(net)), atol=exact)
    np.testing.assert_allclose(firing, reference.entmax(w, 1.0 if raw < 0 else 2.0), atol=0.05)
    y.square().sum().backward()
    assert_finite_gradients(net, x)


@pytest.mark.parametrize("excess", [1e-3, 1e-6, 1e-9, 1e-15])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_an_alpha_just_above_one_is_almost_softmax(excess, dtype):
    net, x = Setup(U=30, alpha=1.0 + excess).network(dtype=dtype), torch.randn(6, 4, dtype=dtype)
    net(x).sum().backward()
    w = reference.layer_norm(array(net.log_firing(x)), array(net.kappa), array(net.beta))
    exact = 1e-4 if dtype == torch.float32 else 1e-7
    np.testing.assert_allclose(array(net.firing(x)), reference.entmax(w, 1.0 + excess), atol=exact)
    assert_finite_gradients(net)
