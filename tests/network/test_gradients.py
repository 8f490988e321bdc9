"""Straight-through gradients against autograd on the straightforward version, on both computation paths."""

import numpy as np
import pytest
import torch

import neuroplastic as npl
from tests import straightforward
from tests.random_network import Setup, parameter_behind

pytestmark = pytest.mark.usefixtures("path")

SHAPES = [  # B, D, U, terms, max_terms
    (5, 4, 6, 3, 4),
    (1, 1, 1, 1, 1),
    (3, 7, 13, 1, 3),
    (2, 5, 9, 2, 2),
    (33, 3, 17, 5, 8),
    (70, 20, 64, 4, 5),
    (3, 4, 10, 20, 40),
]


def assert_equal(actual, expected, name=""):
    """1e-8 in float64, the promise for gradients."""
    np.testing.assert_allclose(actual.numpy(), expected.numpy(), rtol=1e-8, atol=1e-8, err_msg=name)


def built(setup, B, training=True, mask=None, seed=0):
    """A network after one pass (so that its noise is drawn), and inputs that want a gradient."""
    net = setup.network(seed=seed, mask=mask).train(training)
    x = torch.tensor(np.random.default_rng(7).normal(size=(B, setup.D)), requires_grad=True)
    net(x.detach())
    return net, x


def straightforward_log_firing(setup, net, x, widths):
    """The dense version on the very parameters of the network, so that autograd meets the same leaves."""
    mask, theta = net.term_mask, setup.constraint
    if theta and net.training and setup.estimator == "stge":
        mask = straightforward.constrained_mask(
            x.detach(), net.centers.detach(), widths.detach(), mask, theta
        )
    selection = net.noise().detach(), mask, setup.estimator, setup.temperature, setup.reduce
    compared = 1.0 if net.gain is None else net.gain, setup.compared(net)[1]
    return straightforward.log_firing(x, net.centers, widths, net.logits, *selection, *compared)


def straightforward_firing(setup, net, x):
    """Steps 3 to 6 of the dense version."""
    w = straightforward_log_firing(setup, net, x, net.widths)
    if setup.layer_norm:
        w = straightforward.layer_norm(w, net.kappa, net.beta)
    if setup.certainty:
        w = straightforward.certain(w, net.certainty, setup.certainty)
    return straightforward.Entmax.apply(w, setup.alpha)


def leaves_of(net, x):
    """Logits, centres, widths (by the parameter behind them), inputs, and the gain where there is one."""
    return ({} if net.log_gain is None else {"log_gain": net.log_gain}) | {
        "logits": net.logits,
        "centers": net.centers,
        "widths": parameter_behind(net, net.widths)[1],
        "x": x,
    }


def compare(actual, expected, leaves, seed=8):
    """Gradients of the same random weighting of both outputs by all leaves."""
    np.testing.assert_allclose(actual.detach().numpy(), expected.detach().numpy(), rtol=1e-10, atol=1e-10)
    upstream = torch.tensor(np.random.default_rng(seed).normal(size=tuple(actual.shape)))
    tensors = list(leaves.values())
    ours = torch.autograd.grad(actual, tensors, upstream, allow_unused=True)
    theirs = torch.autograd.grad(expected, tensors, upstream, allow_unused=True)
    for name, leaf, mine, wanted in zip(leaves, tensors, ours, theirs, strict=True):
        zero = torch.zeros_like(leaf)
        assert_equal(zero if mine is None else mine, zero if wanted is None else wanted, name)
    return dict(zip(leaves, ours, strict=True))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("estimator", ["ste", "stge"])
@pytest.mark.parametrize("reduce", ["sum", "mean", "scaled", "worst"])
@pytest.mark.parametrize("masked", [True, False])
def test_log_firing_gradients_equal_autograd(shape, estimator, reduce, masked):
    B, D, U, terms, max_terms = shape
    setup = Setup(D=D, U=U, terms=terms, max_terms=max_terms, estimator=estimator, reduce=reduce)
    net, x = built(setup, B, mask=None if masked else np.ones((D, max_terms), bool))
    expected = straightforward_log_firing(setup, net, x, net.widths)
    compare(net.log_firing(x), expected, leaves_of(net, x))


@pytest.mark.parametrize("estimator", ["ste", "stge"])
@pytest.mark.parametrize("reduce", ["sum", "worst"])
def test_evaluation_mode_gradients_equal_autograd_without_noise(estimator, reduce):
    setup = Setup(D=6, U=11, estimator=estimator, reduce=reduce)
    net, x = built(setup, 4, training=False)
    compare(net.log_firing(x), straightforward_log_firing(setup, net, x, net.widths), leaves_of(net, x))


@pytest.mark.parametrize("theta", [10.0, 60.0])
def test_constrained_gradients_equal_autograd_and_skip_the_terms_taken_out(theta):
    setup = Setup(D=6, U=11, max_terms=5, constraint=theta)
    net, x = built(setup, 8)
    grads = compare(
        net.log_firing(x), straightforward_log_firing(setup, net, x, net.widths), leaves_of(net, x)
    )
    sets = net.centers.detach(), net.widths.detach(), net.term_mask
    allowed = straightforward.constrained_mask(x.detach(), *sets, theta)
    assert (grads["logits"].movedim(0, 1)[~allowed] == 0).all()


@pytest.mark.parametrize("temperature", [0.05, 0.3, 1.0, 2.5])
def test_softmax_gradient_divides_by_the_square_of_the_temperature(temperature):
    setup = Setup(temperature=temperature)
    net, x = built(setup, 5)
    compare(net.log_firing(x), straightforward_log_firing(setup, net, x, net.widths), leaves_of(net, x))


@pytest.mark.parametrize("estimator", ["ste", "stge"])
def test_missing_terms_receive_no_gradient(estimator):
    setup = Setup(D=6, U=11, max_terms=5, estimator=estimator)
    net, x = built(setup, 5)
    leaves = leaves_of(net, x)
    grads = dict(zip(leaves, torch.autograd.grad(net(x).sum(), list(leaves.values())), strict=True))
    missing = ~net.term_mask
    assert missing.any()
    assert (grads["logits"].movedim(0, 1)[missing] == 0).all()
    assert (grads["centers"][missing] == 0).all()
    assert (grads["widths"][missing] == 0).all()


@pytest.mark.parametrize("wanted", [["x"], ["logits"], ["centers"], ["widths"], ["logits", "x"]], ids=str)
def test_a_gradient_is_the_same_when_the_others_are_not_asked_for(wanted):
    setup = Setup(D=6, U=11)
    net, x = built(setup, 5)
    leaves = leaves_of(net, x)
    everything = dict(
        zip(leaves, torch.autograd.grad(net.log_firing(x).square().sum(), list(leaves.values())), strict=True)
    )
    for name, leaf in leaves.items():
        leaf.requires_grad_(name in wanted)
    alone = torch.autograd.grad(net.log_firing(x).square().sum(), [leaves[name] for name in wanted])
    for name, grad in zip(wanted, alone, strict=True):
        assert_equal(grad, everything[name], name)


@pytest.mark.parametrize("estimator", ["ste", "stge"])
@pytest.mark.parametrize("alpha", [1.0, 1.3, 1.5, 2.0])
@pytest.mark.parametrize(("layer_norm", "certainty"), [(True, None), (True, "log"), (False, "tanh")])
def test_gradients_of_the_whole_network_equal_autograd(estimator, alpha, layer_norm, certainty):
    setup = Setup(D=5, U=13, estimator=estimator, alpha=alpha, layer_norm=layer_norm, certainty=certainty)
    net, x = built(setup, 4)
    leaves = leaves_of(net, x) | {"weight": net.weight, "bias": net.bias}
    leaves |= {"kappa": net.kappa, "beta": net.beta} if layer_norm else {}
    leaves |= {"certainty": net.certainty} if certainty else {}
    compare(net.firing(x), straightforward_firing(setup, net, x), leaves)
    firing = straightforward_firing(setup, net, x)
    compare(net(x), straightforward.affine_output(firing, x, net.weight, net.bias), leaves)


@pytest.mark.parametrize("estimator", ["ste", "stge"])
@pytest.mark.parametrize("defuzzifier", ["height", "area"])
def test_mamdani_gradients_equal_autograd(estimator, defuzzifier):
    consequent = npl.Mamdani(terms=4, defuzzifier=defuzzifier)
    setup = Setup(D=5, U=13, outputs=3, alpha=1.0, estimator=estimator, consequent=consequent)
    net, x = built(setup, 4)
    leaves = leaves_of(net, x) | {"conclusions": net.conclusion_logits, "output centers": net.output_centers}
    if defuzzifier == "area":
        leaves["output widths"] = parameter_behind(net, net.output_widths)[1]
    everything = torch.ones(3, 4, dtype=torch.bool)
    conclusion = straightforward.straight_through(
        net.conclusion_logits, net.conclusion_noise().detach(), everything, estimator, setup.temperature
    )
    firing = straightforward_firing(setup, net, x)
    sets = net.output_centers, net.output_widths
    compare(net(x), straightforward.mamdani_output(firing, conclusion, *sets, defuzzifier), leaves)


def test_two_backward_passes_add_up():
    setup = Setup(D=5, U=9)
    net, x = built(setup, 4)
    net(x).sum().backward()
    once = net.logits.grad.clone()
    net(x).sum().backward()
    assert_equal(net.logits.grad, 2 * once)


def test_noise_held_or_fresh_gives_the_gradient_of_its_own_pass():
    setup = Setup(D=5, U=9, noise_hold=1)
    net, x = built(setup, 4)
    first, noise_of_first = net(x), net.noise().clone()
    second = net(x)
    assert not torch.equal(noise_of_first, net.noise())
    alone = torch.autograd.grad(second.sum(), net.logits, retain_graph=True)[0]
    both = torch.autograd.grad((first + second).sum(), net.logits)[0]
    mask, sets = net.term_mask, (net.centers, net.widths)
    w = straightforward.log_firing(
        x, *sets, net.logits, noise_of_first, mask, "stge", setup.temperature, setup.reduce
    )
    firing = straightforward.Entmax.apply(straightforward.layer_norm(w, net.kappa, net.beta), 1.5)
    expected = straightforward.affine_output(firing, x, net.weight, net.bias)
    assert_equal(both - alone, torch.autograd.grad(expected.sum(), net.logits)[0])
