"""Finite differences on every smooth part: memberships, layer norm, certainty, normalisers, consequents."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.func import functional_call

import neuroplastic as npl
from tests.random_network import Setup, parameter_behind

pytestmark = pytest.mark.usefixtures("path")


class Step(torch.nn.Module):
    """One method of a network as a module of its own, so that functional_call can replace parameters."""

    def __init__(self, net, method):
        super().__init__()
        self.net, self.method = net, method

    def forward(self, x):
        return getattr(self.net, self.method)(x)


def check(setup, method, names, B=2):
    """gradcheck of a method by its input and the named parameters; selection stays fixed under tiny steps."""
    net = replace(setup, D=3, U=5, noise_hold=10**6).network(seed=4).train()
    x = torch.tensor(np.random.default_rng(5).normal(size=(B, 3)), requires_grad=True)
    net(x.detach())
    step = Step(net, method)
    names, values = zip(*(parameter_behind(net, getattr(net, name)) for name in names), strict=True)
    starts = [value.detach().clone().requires_grad_() for value in values]

    def function(x, *tensors):
        replaced = {f"net.{name}": tensor * 1.0 for name, tensor in zip(names, tensors, strict=True)}
        return functional_call(step, replaced, (x,))

    assert torch.autograd.gradcheck(function, (x, *starts), atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("estimator", ["ste", "stge"])
@pytest.mark.parametrize("reduce", ["sum", "mean", "scaled", "worst"])
def test_log_firing_is_smooth_in_inputs_centres_and_widths(estimator, reduce):
    check(Setup(estimator=estimator, reduce=reduce), "log_firing", ["centers", "widths"])


@pytest.mark.parametrize("alpha", [1.0, 1.2, 1.5, 2.0])
def test_normalisers_are_smooth_in_inputs_and_layer_norm(alpha):
    check(Setup(alpha=alpha), "firing", ["kappa", "beta"])


@pytest.mark.parametrize("layer_norm", [True, False])
def test_learnable_alpha_has_the_right_derivative(layer_norm):
    check(Setup(alpha="learn", layer_norm=layer_norm), "firing", ["alpha"])


@pytest.mark.parametrize("reduce", ["scaled", "worst"])
def test_the_gain_has_the_right_derivative(reduce):
    check(Setup(reduce=reduce, layer_norm=False, alpha=1.0), "firing", ["gain"])


@pytest.mark.parametrize("form", ["log", "tanh"])
def test_certainty_has_the_right_derivative(form):
    check(Setup(certainty=form), "firing", ["certainty", "kappa"])


@pytest.mark.parametrize(
    ("consequent", "names"),
    [
        ("affine", ["weight", "bias"]),
        ("constant", ["bias"]),
        (npl.LowRank(rank=3), ["projection", "weight", "bias"]),
        (npl.Mamdani(terms=3, defuzzifier="height"), ["output_centers"]),
        (npl.Mamdani(terms=3, defuzzifier="area"), ["output_centers", "output_widths"]),
    ],
    ids=str,
)
def test_consequents_have_the_right_derivatives(consequent, names):
    check(Setup(consequent=consequent), "forward", names)
