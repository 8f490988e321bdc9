"""Laws that hold for every network and input, searched for counterexamples by Hypothesis."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import neuroplastic as npl
from tests import reference
from tests.random_network import Setup, array, place

pytestmark = pytest.mark.usefixtures("path")

few_rules = st.integers(1, 20)
seeds = st.integers(0, 2**31 - 1)
law = settings(max_examples=25, deadline=None, derandomize=True, database=None)


@st.composite
def setups(draw, rules=few_rules):
    """Any configuration of a small network."""
    return Setup(
        D=draw(st.integers(1, 9)),
        U=draw(rules),
        terms=draw(st.integers(1, 3)),
        max_terms=draw(st.integers(3, 6)),
        estimator=draw(st.sampled_from(["ste", "stge"])),
        reduce=draw(st.sampled_from(["sum", "mean", "scaled", "worst"])),
        alpha=draw(st.sampled_from([1.0, 1.25, 1.5, 2.0, "learn"])),
        layer_norm=draw(st.booleans()),
        certainty=draw(st.sampled_from([None, "log", "tanh"])),
        consequent=draw(
            st.sampled_from(["affine", "constant", "low_rank", "mamdani", npl.Mamdani(defuzzifier="area")])
        ),
    )


def inputs(seed, B, D, dtype=torch.float64):
    return torch.tensor(np.random.default_rng(seed).normal(size=(B, D)), dtype=dtype)


def assert_same(actual, expected):
    np.testing.assert_allclose(array(actual), array(expected), rtol=1e-9, atol=1e-10)


@law
@given(
    setup=setups(rules=st.sampled_from([1, 256])),
    seed=seeds,
    exponents=st.tuples(st.floats(-3, 3), st.floats(-3, 3)).map(sorted),
    dtype=st.sampled_from([torch.float32, torch.float64]),
    training=st.booleans(),
    data=st.data(),
)
def test_firing_sums_to_one_without_nan_far_from_the_sets(setup, seed, exponents, dtype, training, data):
    values = hnp.arrays(np.float64, (3, setup.D), elements=st.floats(-1e4, 1e4))
    x = torch.tensor(data.draw(values), dtype=dtype, requires_grad=True)
    net, rng = setup.network(seed=seed, dtype=dtype).train(training), np.random.default_rng(seed)
    shape = tuple(net.centers.shape)
    place(net, rng.uniform(-5, 5, shape), 10.0 ** rng.uniform(*exponents, shape), array(net.term_mask))
    y = net(x)
    firing = net.firing(x)
    assert torch.isfinite(net.log_firing(x)).all()
    assert ((firing >= 0) & (firing <= 1 + 1e-5)).all()
    np.testing.assert_allclose(array(firing).sum(1), 1.0, atol=1e-5 if dtype == torch.float32 else 1e-10)
    assert torch.isfinite(y).all()
    y.sum().backward()
    for name, tensor in [("x", x), *net.named_parameters()]:
        assert tensor.grad is None or torch.isfinite(tensor.grad).all(), f"gradient of {name}"


def permuted(net, setup, order, seed):
    """A twin of the network whose rules stand in another order; only rule dimensions are touched."""
    twin = setup.network(seed=seed)
    twin.load_state_dict(net.state_dict())
    with torch.no_grad():
        for name, dim in {"logits": 2, "conclusion_logits": 2, "kappa": 0, "beta": 0, "certainty": 0}.items():
            if getattr(net, name, None) is not None:
                getattr(twin, name).copy_(getattr(net, name).index_select(dim, order))
        for name in ("weight", "bias"):
            if getattr(net, name, None) is not None:
                getattr(twin, name).copy_(getattr(net, name)[order])
    return twin


@law
@given(setup=setups(), seed=seeds)
def test_permuting_the_rules_permutes_nothing_but_the_rules(setup, seed):
    net = setup.network(seed=seed)
    order = torch.tensor(np.random.default_rng(seed).permutation(setup.U))
    twin, x = permuted(net, setup, order, seed), inputs(seed, 4, setup.D)
    net.eval(), twin.eval()
    assert torch.equal(twin.premises(), net.premises()[order])
    assert_same(twin.log_firing(x), net.log_firing(x)[:, order])
    assert_same(twin.firing(x), net.firing(x)[:, order])
    assert_same(twin(x), net(x))


@law
@given(setup=setups(), seed=seeds, B=st.integers(2, 40), data=st.data())
def test_splitting_a_batch_changes_nothing_in_evaluation(setup, seed, B, data):
    net, x = setup.network(seed=seed).eval(), inputs(seed, B, setup.D)
    cut = data.draw(st.integers(1, B - 1))
    for step in (net, net.log_firing, net.firing):
        assert_same(torch.cat([step(x[:cut]), step(x[cut:])]), step(x))


@law
@given(setup=setups(), seed=seeds)
def test_the_order_of_observations_does_not_matter(setup, seed):
    net, x = setup.network(seed=seed).eval(), inputs(seed, 7, setup.D)
    order = torch.tensor(np.random.default_rng(seed).permutation(7))
    assert_same(net(x[order]), net(x)[order])


@law
@given(seed=seeds, estimator=st.sampled_from(["ste", "stge"]), U=st.integers(1, 40), T=st.integers(1, 8))
def test_a_masked_term_is_never_selected(seed, estimator, U, T):
    setup = Setup(D=1, U=U, terms=1, max_terms=T, estimator=estimator)
    net, x = setup.network(seed=seed), inputs(seed, 3, 1)
    with torch.no_grad():
        net.logits[~net.term_mask.T.squeeze(1)] += 50.0  # the missing terms would win every contest
    log_mu = reference.log_memberships(array(x), array(net.centers), array(net.widths))[:, 0]
    existing = np.flatnonzero(array(net.term_mask)[0])
    assert np.isin(array(net.premises()), existing).all()
    for training in (True, False):
        net.train(training)(x)
        distance = np.abs(array(net.log_firing(x))[:, :, None] - log_mu[:, None, existing])
        assert (distance.min(axis=2) < 1e-9).all()


@law
@given(setup=setups(), seed=seeds, shift=st.floats(-100, 100))
def test_moving_inputs_and_centres_together_changes_no_firing(setup, seed, shift):
    net, x = setup.network(seed=seed).eval(), inputs(seed, 4, setup.D)
    before = net.firing(x)
    with torch.no_grad():
        net.centers.add_(shift)
    np.testing.assert_allclose(array(net.firing(x + shift)), array(before), atol=1e-8)


@law
@given(setup=setups(), seed=seeds)
def test_mean_and_scaled_are_the_sum_divided_by_the_number_of_attributes_and_its_root(setup, seed):
    x = inputs(seed, 4, setup.D)
    summed, meant, scaled = (
        Setup(**{**vars(setup), "reduce": reduce}).network(seed=seed).eval()
        for reduce in ("sum", "mean", "scaled")
    )
    assert_same(meant.log_firing(x), summed.log_firing(x) / setup.D)
    assert_same(scaled.log_firing(x), summed.log_firing(x) * scaled.gain / setup.D**0.5)
