"""From log-firings to firing levels in tensors, NumPy and ONNX: three forms of one computation, under one contract."""

import itertools

import numpy as np
import pytest
import torch

import neuroplastic as npl
from neuroplastic.fuzzy.firing import RuleWeights, entmax, firing_levels, scores
from neuroplastic.report.firing_levels import FEATURES, levels
from neuroplastic.rules.explanations.scoring import Scoring
from neuroplastic.rules.networks import firing_of
from neuroplastic.rules.reading import rule_base
from neuroplastic.rules.scores import ScoreLine
from neuroplastic.rules.simplification.draft import draft_of
from neuroplastic.rules.standards import onnx_firing
from neuroplastic.rules.standards.onnx_graph import Graph, checked_bytes
from tests.random_network import Setup, alpha_of, array

REDUCES = ("sum", "mean", "scaled", "worst")
CERTAINTIES = (None, "log", "tanh")
ALPHAS = (1.0, 1.25, 1.5, 2.0, "learn")
RULES = (1, 2, 7, 40)
OPTIONS = [
    pytest.param(
        Setup(D=5, U=RULES[number % 4], reduce=reduce, layer_norm=norm, certainty=certainty, alpha=alpha),
        number,
        id=f"{reduce}-{'norm' if norm else 'plain'}-{certainty}-{alpha}",
    )
    for number, (reduce, norm, certainty, alpha) in enumerate(
        itertools.product(REDUCES, (False, True), CERTAINTIES, ALPHAS)
    )
]

every_option = pytest.mark.parametrize(("setup", "seed"), OPTIONS)


def made(setup, seed):
    """A random network, summed log-firings (B, U) of spread-out inputs, and what goes with them."""
    net = setup.network(seed).eval()
    if net.raw_alpha is not None:
        net.raw_alpha.data.fill_((seed % 7) - 3.0)
    x = torch.randn(9, setup.D, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)) * 2
    with torch.no_grad():
        sums = net.antecedent.log_firing(x)
    weights = RuleWeights(net.kappa, net.beta, net.certainty, net.gain)
    return net, x, sums, weights


def by_tensors(net, sums, weights):
    with torch.no_grad():
        return firing_levels(sums, net.in_features, net.firing_config, weights, net.alpha)


def by_oracle(setup, net, sums):
    return setup.normalised(net, scaled(setup, net, sums))


def scaled(setup, net, sums):
    """Log-firings by the equations: a mean is over D, and a gain is over the root of D or alone."""
    gain = setup.compared(net)[0]
    scale = {"sum": 1.0, "mean": 1 / setup.D, "scaled": gain / setup.D**0.5, "worst": gain}
    return array(sums) * scale[setup.reduce]


def line_of(net):
    own = (None if values is None else array(values) for values in (net.kappa, net.beta, net.certainty))
    gain, shift, certainty = own
    return ScoreLine.of(net.firing_config, net.rules, gain=gain, shift=shift, certainty=certainty)


def by_onnx(net, sums, dtype):
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    graph = Graph(np.dtype(dtype))
    firing = firing_of(net)
    found = onnx_firing.firing_levels(graph, graph.wide("x"), net.in_features, firing, line_of(net))
    content = checked_bytes(graph, graph.narrow(found), net.rules, net.rules, notes={})
    session = runtime.InferenceSession(content, providers=["CPUExecutionProvider"])
    (result,) = session.run(None, {"x": array(sums).astype(dtype)})
    return result


@every_option
def test_tensors_equal_the_oracle(setup, seed):
    net, _, sums, weights = made(setup, seed)
    np.testing.assert_allclose(array(by_tensors(net, sums, weights)), by_oracle(setup, net, sums), atol=1e-12)


@every_option
def test_the_network_has_no_form_of_its_own(setup, seed):
    net, x, sums, weights = made(setup, seed)
    with torch.no_grad():
        assert torch.equal(net.firing(x), by_tensors(net, sums, weights))


@every_option
def test_a_draft_has_no_form_of_its_own(setup, seed):
    net, _, sums, weights = made(setup, seed)
    expected = by_tensors(net, sums, weights)
    torch.testing.assert_close(draft_of(net).levels(sums), expected, rtol=0, atol=1e-12)


@every_option
def test_numpy_scores_equal_those_of_tensors(setup, seed):
    net, x, sums, weights = made(setup, seed)
    with torch.no_grad():
        expected = scores(sums, net.in_features, net.firing_config, weights)
        w = scaled(setup, net, sums)
        found = line_of(net).scores(w, layer_norm=setup.layer_norm)
        np.testing.assert_allclose(found, array(expected), rtol=1e-12, atol=1e-12)
        assert_scoring_agrees(net, x, w, found)
        fired = entmax(torch.from_numpy(found), alpha_of(net))
    np.testing.assert_allclose(array(fired), array(by_tensors(net, sums, weights)), rtol=0, atol=1e-12)


def assert_scoring_agrees(net, x, w, expected):
    """Explanations score by the same line, read off the rule base, and make the same log-firings of observations."""
    scoring = Scoring.of(rule_base(net))
    np.testing.assert_allclose(scoring.scores(w), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(scoring.log_firing(array(x)), w, rtol=1e-9, atol=1e-9)


@every_option
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-12), (np.float32, 1e-5)])
def test_onnx_equals_tensors(setup, seed, dtype, tolerance):
    net, _, sums, weights = made(setup, seed)
    sums = sums.to(torch.float32).double() if dtype is np.float32 else sums
    expected = array(by_tensors(net, sums, weights))
    np.testing.assert_allclose(by_onnx(net, sums, dtype), expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("reduce", ["sum", "mean"])
@pytest.mark.parametrize("norm", [False, True])
@pytest.mark.parametrize("alpha", [1.0, 1.5])
def test_the_figures_of_firing_levels_have_no_form_of_their_own(reduce, norm, alpha):
    sums = -torch.rand(3, 8, dtype=torch.float64) * FEATURES
    gain, shift = torch.ones(8, dtype=torch.float64), torch.zeros(8, dtype=torch.float64)
    firing = npl.Firing(reduce=reduce, layer_norm=norm, alpha=alpha)
    expected = firing_levels(sums, FEATURES, firing, RuleWeights(gain, shift), alpha)
    found = levels(sums, reduce, norm=norm, alpha=alpha)
    np.testing.assert_allclose(found, expected.numpy(), rtol=1e-12)


def test_far_inputs_and_tied_rules_fire_alike_in_every_form():
    for seed, norm in ((0, True), (1, False)):
        net, _, _, weights = made(Setup(D=5, U=7, layer_norm=norm, certainty="log"), seed)
        for sums in (
            torch.full((2, 7), -3.0, dtype=torch.float64),
            -torch.rand(2, 7, dtype=torch.float64) * 1e12,
        ):
            expected = by_tensors(net, sums, weights)
            np.testing.assert_allclose(by_oracle(net_setup(net), net, sums), array(expected), atol=1e-12)
            np.testing.assert_allclose(by_onnx(net, sums, np.float64), array(expected), atol=1e-12)
            line = line_of(net).scores(array(sums), layer_norm=norm)
            fired = entmax(torch.from_numpy(line), alpha_of(net))
            np.testing.assert_allclose(array(fired), array(expected), atol=1e-12)


def net_setup(net):
    config = net.firing_config
    return Setup(
        D=net.in_features,
        U=net.rules,
        layer_norm=config.layer_norm,
        certainty=config.certainty,
        reduce=config.reduce,
    )
