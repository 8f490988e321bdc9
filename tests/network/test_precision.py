"""Single precision at the paper's width (1600 attributes) against the float64 oracle: 1e-4 relative."""

import numpy as np
import pytest
import torch

from tests import straightforward
from tests.random_network import Setup, array, parameter_behind, place

pytestmark = pytest.mark.usefixtures("path")

D = 1600


def case(width, shift_inputs, shift_centers, near):
    """A float32 network of narrow or wide sets; `near` puts each input about a width from one rule's centres.

    The logits are spread so far that noise changes no premise: a near input stays near in training mode.
    """
    setup = Setup(D=D, outputs=2, U=8, terms=3, max_terms=4)
    rng = np.random.default_rng(3)
    net = setup.network(dtype=torch.float32)
    centers = rng.random((D, 4)) + shift_centers
    place(net, centers, np.full((D, 4), width) * rng.uniform(1.0, 1.5, (D, 4)), array(net.term_mask))
    with torch.no_grad():
        net.logits.mul_(1e3)
    net.eval()
    x = rng.random((3, D)) + shift_inputs
    if near:
        premises = array(net.premises())
        for b in range(3):
            x[b] = centers[np.arange(D), premises[b]] + width * rng.normal(size=D)
    return setup, net, torch.tensor(x, dtype=torch.float32)


@pytest.mark.parametrize("width", [0.01, 0.3])
@pytest.mark.parametrize(
    ("shift_inputs", "shift_centers", "near"),
    [(0, 0, False), (100, 0, False), (100, 100, False), (0, 0, True), (100, 100, True), (-100, -100, True)],
)
@pytest.mark.parametrize("training", [False, True])
def test_single_precision_is_right_to_four_digits(width, shift_inputs, shift_centers, near, training):
    setup, net, x = case(width, shift_inputs, shift_centers, near)
    y = net.train(training)(x)
    steps = setup.oracle(net, x)
    np.testing.assert_allclose(array(net.log_firing(x)), steps["log_firing"], rtol=1e-4)
    for actual, expected in ((net.firing(x), steps["firing"]), (y, steps["output"])):
        assert actual.dtype == torch.float32
        largest = np.abs(expected).max(axis=1, keepdims=True)
        assert (np.abs(array(actual) - expected) <= 1e-4 * largest).all()


@pytest.mark.parametrize("width", [0.01, 0.3])
@pytest.mark.parametrize(("shift", "near"), [(0, False), (100, False), (100, True)])
def test_single_precision_gradients_are_right_to_four_digits_of_the_largest(width, shift, near):
    setup, net, x = case(width, shift, shift, near)
    with torch.no_grad():
        net.logits.mul_(1e-3)
    net.train()(x)
    x.requires_grad_()
    upstream = torch.randn(3, setup.U)
    raw = parameter_behind(net, net.widths)[1]
    actual = torch.autograd.grad(net.log_firing(x), (net.logits, net.centers, raw, x), upstream)

    exact = [t.detach().double().requires_grad_() for t in (x, net.centers, net.widths, net.logits)]
    selection = net.noise().double(), net.term_mask, setup.estimator, setup.temperature
    w = straightforward.log_firing(*exact, *selection)
    by_x, by_centers, by_widths, by_logits = torch.autograd.grad(w, exact, upstream.double())
    by_raw = torch.autograd.grad(net.widths, raw, by_widths.float())[0]
    for ours, expected in zip(actual, (by_logits, by_centers, by_raw, by_x), strict=True):
        assert (ours - expected).abs().max() <= 1e-4 * expected.abs().max()
