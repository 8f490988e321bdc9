"""A parameter that is no number: what is computed with it is NaN, on every backend alike; never zeros, never a crash.

Infinite parameters count as what they mean where they mean something (a set that asks nothing, a premise that is never
or always chosen, a rule that never fires), and give NaN elsewhere. What a missing term's slot holds does not matter.
"""

import copy
import math

import pytest
import torch

import neuroplastic as npl
from neuroplastic.fuzzy import backends

BAD = [math.nan, math.inf, -math.inf]
ALPHAS = [1, 1.25, 1.5, 2, "learn"]
CONSEQUENTS = {
    "affine": {"consequent": "affine", "certainty": "log"},
    "constant": {"consequent": "constant", "certainty": "tanh"},
    "low rank": {"consequent": "low_rank", "estimator": "ste"},
    "mamdani": {"consequent": npl.Mamdani(defuzzifier="area"), "constraint": 30.0},
    "worst premise": {"consequent": "constant", "reduce": "worst"},
    "scaled": {"consequent": "constant", "reduce": "scaled", "estimator": "ste"},
}
TERMS, ATTRIBUTE = 3, 1

needs_both = pytest.mark.skipif(not backends.compiled_available(), reason="there is one backend only")


def network(
    alpha=1.5,
    layer_norm=True,
    consequent="affine",
    certainty=None,
    reduce="sum",
    estimator="stge",
    constraint=0.0,
    dtype=torch.float64,
    growth=None,
):
    torch.manual_seed(0)
    return npl.NeuroFuzzyNetwork(
        4,
        2,
        6,
        terms=TERMS,
        max_terms=5,
        selection=npl.Selection(estimator=estimator, constraint=constraint),
        firing=npl.Firing(reduce, alpha=alpha, layer_norm=layer_norm, certainty=certainty),
        consequent=consequent,
        neurogenesis=growth,
        dtype=dtype,
    )


def spoilt(net, name, value):
    """A copy with one number spoilt; of the sets, all those of an attribute, so that every rule uses one."""
    net = copy.deepcopy(net)
    parameter = dict(net.named_parameters())[name].data
    if name in ("antecedent.centers", "antecedent.raw_widths"):
        parameter[ATTRIBUTE, :TERMS] = value
    elif name == "antecedent.logits":
        terms = TERMS if net.selection.constraint else 1  # the constraint may leave a term out of a batch
        parameter[:terms, ATTRIBUTE, 2] = value
    else:
        parameter.view(-1)[0] = value
    return net


def computed(net, x, *, training):
    """Output, firing, and which parameters have a NaN in their gradient."""
    net.train(training)
    y = net(x)
    y.square().sum().backward()
    nan = {name: bool(parameter.grad.isnan().any()) for name, parameter in net.named_parameters()}
    return y.detach(), net.firing(x).detach(), nan


@needs_both
@pytest.mark.parametrize("layer_norm", [True, False], ids=["layer norm", "no layer norm"])
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("consequent", CONSEQUENTS)
def test_backends_agree_on_every_parameter_that_is_nan_or_infinite(consequent, alpha, layer_norm):
    net = network(alpha, layer_norm, **CONSEQUENTS[consequent])
    for name, _ in net.named_parameters():
        for value in BAD:
            for training, size in ((True, 3), (False, 1)):
                x, case = torch.rand(size, 4, dtype=torch.float64), f"{name} {value} {training} {size}"
                fast = computed(spoilt(net, name, value), x, training=training)
                with backends.eager_only():
                    eager = computed(spoilt(net, name, value), x, training=training)
                for ours, theirs in zip(fast[:2], eager[:2], strict=True):
                    torch.testing.assert_close(
                        ours,
                        theirs,
                        rtol=1e-9,
                        atol=1e-9,
                        equal_nan=True,
                        msg=lambda m, case=case: f"{case}: {m}",
                    )
                assert fast[2] == eager[2], case


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("layer_norm", [True, False], ids=["layer norm", "no layer norm"])
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("consequent", CONSEQUENTS)
def test_a_nan_in_any_parameter_reaches_every_observation(consequent, alpha, layer_norm):
    net = network(alpha, layer_norm, **CONSEQUENTS[consequent], dtype=torch.float32)
    for name, _ in net.named_parameters():
        for training in (True, False):
            y, firing, gradients = computed(spoilt(net, name, math.nan), torch.rand(3, 4), training=training)
            assert y.isnan().any(dim=1).all(), name
            assert gradients[name], name
            if not name.startswith("consequent"):
                assert firing.isnan().all(), name


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("layer_norm", [True, False], ids=["layer norm", "no layer norm"])
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("consequent", CONSEQUENTS)
def test_firing_sums_to_one_or_is_nan_whatever_is_infinite(consequent, alpha, layer_norm):
    net = network(alpha, layer_norm, **CONSEQUENTS[consequent])
    for name, _ in net.named_parameters():
        for value in (math.inf, -math.inf):
            x = torch.rand(3, 4, dtype=torch.float64)
            y, firing, _ = computed(spoilt(net, name, value), x, training=False)
            sums = firing.sum(dim=1)
            assert (sums.isnan() | (sums - 1).abs().lt(1e-9)).all(), (name, value)
            assert y[sums.isnan()].isnan().all(), (name, value)


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("alpha", ALPHAS)
def test_an_infinite_width_asks_nothing_and_an_infinite_logit_decides(alpha):
    net, x = network(alpha).eval(), torch.rand(3, 4, dtype=torch.float64)
    asks_nothing = spoilt(net, "antecedent.raw_widths", math.inf)
    others = x.clone()
    others[:, ATTRIBUTE] += 0.5
    torch.testing.assert_close(asks_nothing.firing(x), asks_nothing.firing(others))
    assert spoilt(net, "antecedent.logits", math.inf).premises()[2, ATTRIBUTE] == 0
    assert spoilt(net, "antecedent.logits", -math.inf).premises()[2, ATTRIBUTE] != 0
    for value in (math.inf, -math.inf):
        assert spoilt(net, "antecedent.logits", value)(x).isfinite().all()


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("value", BAD)
@pytest.mark.parametrize("estimator", ["ste", "stge"])
def test_what_a_missing_terms_slot_holds_does_not_matter(value, estimator):
    net = network(estimator=estimator, constraint=20.0 if estimator == "stge" else 0.0)
    with torch.no_grad():
        net.term_mask[:, 0] = False  # the lowest slot may be missing too
    odd = copy.deepcopy(net)
    with torch.no_grad():
        for table in (odd.centers, odd.antecedent.raw_widths):
            table[~odd.term_mask] = value
        odd.logits[~odd.term_mask.t()] = value
    x = torch.rand(5, 4, dtype=torch.float64, requires_grad=True)
    for twin in (net, odd):
        twin(x).square().sum().backward()
    for ours, expected in zip(odd.parameters(), net.parameters(), strict=True):
        exists = torch.ones_like(expected, dtype=torch.bool)
        if expected.shape == net.term_mask.shape:
            exists = net.term_mask
        elif expected.shape == net.logits.shape:
            exists = net.term_mask.t().unsqueeze(-1).expand_as(expected)
        assert torch.equal(ours.grad[exists], expected.grad[exists])
    with torch.no_grad():
        assert torch.equal(odd.eval()(x), net.eval()(x))


@pytest.mark.usefixtures("path")
def test_an_attribute_without_terms_gives_nan():
    net, x = network().eval(), torch.rand(3, 4, dtype=torch.float64)
    with torch.no_grad():
        net.term_mask[ATTRIBUTE] = False
        assert net(x).isnan().all()


@pytest.mark.usefixtures("path")
def test_terms_at_minus_infinity_are_chosen_before_missing_ones():
    net, x = network().eval(), torch.rand(3, 4, dtype=torch.float64)
    with torch.no_grad():
        net.term_mask[ATTRIBUTE, 0] = False
        net.logits[:, ATTRIBUTE] = -math.inf
        assert net.premises()[:, ATTRIBUTE].eq(1).all()
        unmasked = copy.deepcopy(net)
        unmasked.logits[1, ATTRIBUTE] = 0.0
        assert torch.equal(net(x), unmasked(x))


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("name", ["antecedent.centers", "antecedent.raw_widths"])
def test_a_set_that_is_nan_covers_nothing_and_the_births_it_leaves_room_for_take_place(name):
    net = spoilt(network(growth=npl.Neurogenesis(delay=1)), name, math.nan)
    net(torch.full((4, 4), 0.5, dtype=torch.float64))
    assert [birth.attribute for birth in net.births] == [ATTRIBUTE]
    assert net.births[0].center == pytest.approx(0.5)


@pytest.mark.usefixtures("path")
def test_the_constraint_on_rare_sets_does_not_hide_one_that_is_nan():
    net = spoilt(network(constraint=90.0), "antecedent.centers", math.nan)
    assert net(torch.rand(3, 4, dtype=torch.float64)).isnan().all()
