"""Every equation of the method against the NumPy oracle, on both computation paths."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import neuroplastic as npl
from tests import reference
from tests.random_network import Setup, alpha_of, array, place

pytestmark = pytest.mark.usefixtures("path")


def inputs(B=5, D=4, seed=10):
    return torch.tensor(np.random.default_rng(seed).normal(size=(B, D)))


def assert_equal(actual, expected):
    """1e-10, the float64 promise."""
    np.testing.assert_allclose(array(actual), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("estimator", ["ste", "stge"])
@pytest.mark.parametrize("reduce", ["sum", "mean", "scaled", "worst"])
@pytest.mark.parametrize(
    ("B", "D", "U", "terms", "max_terms"),
    [(5, 4, 6, 3, 4), (1, 1, 1, 1, 1), (66, 9, 13, 2, 8), (7, 33, 32, 5, 5), (3, 5, 40, 20, 40)],
)
def test_log_firing_equals_equations_6_and_12(training, estimator, reduce, B, D, U, terms, max_terms):
    setup = Setup(D=D, U=U, terms=terms, max_terms=max_terms, estimator=estimator, reduce=reduce)
    net, x = setup.network().train(training), inputs(B=B, D=D)
    net(x)
    assert_equal(net.log_firing(x), setup.oracle(net, x)["log_firing"])


def test_log_firing_of_inputs_that_are_not_contiguous():
    setup = Setup(D=6, U=9)
    net, wide = setup.network().train(), inputs(B=6, D=12)
    for x in (wide[:, ::2], inputs(B=6, D=6).T, wide[:1, :6].expand(5, 6)):
        net(x)
        assert_equal(net.log_firing(x), setup.oracle(net, x)["log_firing"])


def test_each_rule_of_one_attribute_shows_the_membership_of_its_term():
    setup = Setup(D=1, U=4, terms=4, max_terms=4, estimator="ste")
    net, x = setup.network(mask=np.ones((1, 4), bool)).eval(), inputs(B=7, D=1)
    with torch.no_grad():
        net.logits.copy_(10.0 * torch.eye(4).unsqueeze(1))
    expected = reference.log_memberships(array(x), array(net.centers), array(net.widths))
    assert_equal(net.log_firing(x), expected[:, 0, :])


def test_placed_sets_are_the_sets_in_force():
    net = Setup(D=2, max_terms=3).network()
    centers, widths = np.array([[0.0, 5.0, -1.0]] * 2), np.array([[1e-3, 0.01, 1e3]] * 2)
    mask = np.array([[True, False, True], [True, True, False]])
    place(net, centers, widths, mask)
    np.testing.assert_array_equal(array(net.centers)[mask], centers[mask])
    np.testing.assert_allclose(array(net.widths)[mask], widths[mask], rtol=1e-9)
    np.testing.assert_array_equal(array(net.term_mask), mask)


def test_premises_are_the_masked_argmax_with_ties_to_the_lowest_term():
    setup = Setup(D=9, U=17, max_terms=6)
    net = setup.network()
    with torch.no_grad():
        net.logits.copy_(net.logits.sign())
    net(inputs(D=9))
    expected = reference.selected_terms(array(net.logits), array(net.term_mask))
    premises = net.premises()
    assert premises.dtype == torch.int64
    np.testing.assert_array_equal(array(premises), expected)
    net.eval()
    np.testing.assert_array_equal(array(net.premises()), expected)
    x = inputs(D=9)
    assert_equal(net.log_firing(x), setup.oracle(net, x)["log_firing"])


@pytest.mark.parametrize("theta", [10.0, 50.0, 90.0])
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("estimator", ["ste", "stge"])
def test_constraint_removes_terms_below_the_percentile_in_stochastic_training_only(
    theta, training, estimator
):
    setup = Setup(D=12, U=11, max_terms=5, constraint=theta, estimator=estimator)
    net, x = setup.network().train(training), inputs(D=12)
    y = net(x)
    steps = setup.oracle(net, x)
    assert_equal(net.log_firing(x), steps["log_firing"])
    assert_equal(net.firing(x), steps["firing"])
    assert_equal(y, steps["output"])
    unconstrained = replace(setup, constraint=0.0).oracle(net, x)["log_firing"]
    changed = not np.allclose(unconstrained, steps["log_firing"])
    assert changed == (training and estimator == "stge")


@pytest.mark.parametrize("alpha", [1.0, 1.01, 1.3, 1.5, 1.75, 2.0, "learn"])
@pytest.mark.parametrize("layer_norm", [True, False])
@pytest.mark.parametrize("certainty", [None, "log", "tanh"])
def test_firing_is_entmax_of_layer_norm_and_certainty(alpha, layer_norm, certainty):
    setup = Setup(U=21, alpha=alpha, layer_norm=layer_norm, certainty=certainty)
    net, x = setup.network().train(), inputs()
    net(x)
    assert 1.0 <= alpha_of(net) <= 2.0
    assert_equal(net.firing(x), setup.oracle(net, x)["firing"])


@pytest.mark.parametrize("alpha", [1.0, 1.2, 1.5, 2.0])
def test_firing_of_many_rules_with_widely_spread_log_firing(alpha):
    setup = Setup(D=30, U=256, alpha=alpha, layer_norm=False)
    net, x = setup.network().eval(), 3.0 * inputs(B=3, D=30)
    assert_equal(net.firing(x), setup.oracle(net, x)["firing"])


def test_tanh_certainty_starts_at_one_and_log_certainty_is_a_factor_below_one():
    tanh, log = (
        npl.NeuroFuzzyNetwork(2, 1, 5, firing=npl.Firing(certainty=form)) for form in ("tanh", "log")
    )
    assert tanh.certainty.tolist() == [1.0] * 5
    assert ((torch.sigmoid(log.certainty) > 0) & (torch.sigmoid(log.certainty) <= 1)).all()


CONSEQUENTS = [
    "affine",
    "constant",
    "low_rank",
    "mamdani",
    npl.Affine(init="normal"),
    npl.Affine(init="zeros"),
    npl.Constant(init="normal"),
    npl.LowRank(rank=3),
    npl.Mamdani(terms=5, defuzzifier="height"),
    npl.Mamdani(terms=4, defuzzifier="area", output_range=(-3.0, 2.0)),
]


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("consequent", CONSEQUENTS, ids=str)
@pytest.mark.parametrize("alpha", [1.0, 1.5])
def test_output_is_the_firing_weighted_sum_of_the_decisions(training, consequent, alpha):
    setup = Setup(D=5, outputs=3, U=14, alpha=alpha, consequent=consequent)
    net, x = setup.network().train(training), inputs(D=5)
    assert_equal(net(x), setup.oracle(net, x)["output"])


@pytest.mark.parametrize("B", [1, 2])
def test_output_of_a_tiny_batch_in_evaluation(B):
    setup = Setup(D=40, outputs=3, U=64)
    net, x = setup.network().eval(), inputs(B=B, D=40)
    assert_equal(net(x), setup.oracle(net, x)["output"])


def test_conclusions_are_the_argmax_with_ties_to_the_lowest_output_set():
    net = Setup(U=9, outputs=3, consequent=npl.Mamdani(terms=4)).network()
    with torch.no_grad():
        net.conclusion_logits.copy_(net.conclusion_logits.sign())
    expected = reference.selected_terms(array(net.conclusion_logits), np.ones((3, 4), bool))
    assert net.conclusions().dtype == torch.int64
    np.testing.assert_array_equal(array(net.conclusions()), expected)


def test_evaluation_follows_every_change_of_the_parameters():
    setup = Setup(U=10)
    net, x = setup.network().eval(), inputs()
    for name in ("logits", "centers", "kappa", "weight"):
        net(x)
        with torch.no_grad():
            getattr(net, name).add_(torch.randn_like(getattr(net, name)))
        assert_equal(net(x), setup.oracle(net, x)["output"])
    place(net, np.zeros((4, 4)), np.full((4, 4), 0.7), np.eye(4, dtype=bool))
    assert_equal(net(x), setup.oracle(net, x)["output"])
