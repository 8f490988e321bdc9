"""Rules compared on a scale that does not grow with their premises: `reduce` 'scaled' and 'worst', and their gain."""

import copy
import math

import numpy as np
import pytest
import torch

import neuroplastic as npl
from neuroplastic.fuzzy import worst
from tests import reference
from tests.random_network import Setup, array, parameter_behind

FORMS = [("scaled", 8.0), ("worst", 1.0), ("worst", 2.5), ("worst", 8.0), ("worst", math.inf)]


def built(setup, B=5, training=True, **options):
    net = setup.network(**options).train(training)
    x = torch.tensor(np.random.default_rng(3).normal(size=(B, setup.D)), requires_grad=True)
    net(x.detach())
    return net, x


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize(("reduce", "power"), FORMS)
def test_forward_equals_the_oracle_to_twelve_digits(reduce, power, training):
    setup = Setup(D=7, U=9, reduce=reduce, power=power, layer_norm=False, alpha=1.0)
    net, x = built(setup, training=training)
    steps = setup.oracle(net, x)
    for name, found in (("log_firing", net.log_firing(x)), ("firing", net.firing(x)), ("output", net(x))):
        np.testing.assert_allclose(array(found), steps[name], rtol=1e-12, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("estimator", ["ste", "stge"])
@pytest.mark.parametrize(("reduce", "power"), FORMS)
def test_gradients_equal_the_oracles_own_formula(reduce, power, estimator):
    setup = Setup(D=7, U=9, max_terms=5, reduce=reduce, power=power, estimator=estimator)
    net, x = built(setup)
    leaves = {"logits": net.logits, "centers": net.centers, "x": x, "log_gain": net.log_gain}
    w = net.log_firing(x)
    upstream = np.random.default_rng(4).normal(size=tuple(w.shape))
    widths, raw = net.widths, parameter_behind(net, net.widths)[1]
    found = torch.autograd.grad(w, [*leaves.values(), raw], torch.tensor(upstream))
    expected = reference.log_firing_gradients(
        *(array(tensor) for tensor in (x, net.centers, widths, net.logits, net.noise(), net.term_mask)),
        upstream=upstream,
        estimator=estimator,
        temperature=setup.temperature,
        reduce=reduce,
        gain=setup.compared(net)[0],
        power=power,
    )
    for name, grad in zip(leaves, found, strict=False):
        np.testing.assert_allclose(array(grad), expected[name], rtol=1e-9, atol=1e-11, err_msg=name)
    by_raw = torch.autograd.grad(net.widths, raw, torch.tensor(expected["widths"]))[0]
    np.testing.assert_allclose(array(found[-1]), array(by_raw), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("power", [2.0, 8.0, math.inf])
def test_straight_through_gradient_of_the_choice_is_that_of_an_explicit_one_hot_product(power):
    setup = Setup(D=4, U=6, estimator="ste", reduce="worst", power=power)
    net, x = built(setup)
    one_hot = torch.nn.functional.one_hot(net.premises(), net.max_terms).permute(2, 1, 0).double()
    one_hot.requires_grad_()
    log_mu = -((x.detach().unsqueeze(-1) - net.centers) ** 2) / (2 * net.widths**2)
    distances = -torch.einsum("bdt,tdu->bdu", log_mu.detach(), one_hot)
    explicit = -net.gain.detach() * torch.linalg.vector_norm(distances, ord=power, dim=1)
    torch.testing.assert_close(net.log_firing(x), explicit, rtol=1e-12, atol=1e-12)
    wanted = torch.autograd.grad(explicit.square().sum(), one_hot)[0]
    found = torch.autograd.grad(net.log_firing(x).square().sum(), net.logits)[0]
    exists = net.term_mask.t().unsqueeze(-1).expand_as(found)
    torch.testing.assert_close(found[exists], wanted[exists], rtol=1e-9, atol=1e-9)
    assert (found[~exists] == 0).all()


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("power", [2.0, math.inf])
def test_an_attribute_of_which_nobody_asks_anything_changes_nothing_in_worst(training, power):
    setup = Setup(D=3, U=5, reduce="worst", power=power, estimator="ste")
    net, x = built(setup)
    more = Setup(**{**vars(setup), "D": 4}).network()
    sets = torch.zeros(4, 4, dtype=torch.float64), torch.full((4, 4), math.inf, dtype=torch.float64)
    mask = torch.ones(4, 4, dtype=torch.bool)
    sets[0][:3], sets[1][:3], mask[:3] = net.centers.detach(), net.widths.detach(), net.term_mask
    more.place_sets(*sets, mask)
    with torch.no_grad():
        more.logits[:, :3], more.log_gain[...] = net.logits, net.log_gain
    net.train(training), more.train(training)
    beside = torch.cat([x.detach(), 100 * torch.randn(5, 1, dtype=torch.float64)], dim=1)
    torch.testing.assert_close(more.log_firing(beside), net.log_firing(x), rtol=1e-12, atol=0)


@pytest.mark.parametrize("copies", [1, 4, 9])
def test_scaled_log_firing_of_equal_attributes_grows_with_the_root_of_their_number(copies):
    one, many = (Setup(D=D, U=5, reduce="scaled", estimator="ste").network().eval() for D in (1, copies))
    many.place_sets(
        *(table.detach().expand(copies, -1) for table in (one.centers, one.widths, one.term_mask))
    )
    with torch.no_grad():
        many.logits.copy_(one.logits.expand(-1, copies, -1))
        many.log_gain.copy_(one.log_gain)
    x = torch.randn(6, 1, dtype=torch.float64)
    torch.testing.assert_close(many.log_firing(x.expand(-1, copies)), copies**0.5 * one.log_firing(x))


def test_power_one_is_the_sum_with_a_gain_in_value_and_gradient():
    worst_one, x = built(Setup(D=6, U=5, reduce="worst", power=1.0))
    summed, _ = built(Setup(D=6, U=5))
    found = worst_one.log_firing(x) / worst_one.gain.detach(), summed.log_firing(x)
    torch.testing.assert_close(*found)
    for name in ("logits", "centers"):
        torch.testing.assert_close(
            torch.autograd.grad(found[0].sum(), getattr(worst_one, name), retain_graph=True),
            torch.autograd.grad(found[1].sum(), getattr(summed, name), retain_graph=True),
        )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("power", [1.5, 8.0, math.inf])
def test_rules_that_fit_fully_have_no_gradient_and_no_nan(power, dtype):
    firing = npl.Firing(reduce="worst", power=power)
    net = npl.NeuroFuzzyNetwork(3, 2, 4, terms=2, max_terms=2, firing=firing, neurogenesis=None, dtype=dtype)
    net.place_sets(torch.zeros(3, 2), torch.tensor([1.0, 2.0]).expand(3, 2))
    x = torch.zeros(5, 3, dtype=dtype, requires_grad=True)
    w = net.log_firing(x)
    assert (w == 0).all()
    w.sum().backward()
    for tensor in (x, net.logits, net.centers, net.antecedent.raw_widths, net.log_gain):
        assert (tensor.grad == 0).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("power", [1.5, 8.0, math.inf])
def test_rules_that_ask_nothing_at_all_have_no_gradient_either(power, dtype):
    firing = npl.Firing(reduce="worst", power=power)
    net = npl.NeuroFuzzyNetwork(3, 2, 4, terms=2, max_terms=2, firing=firing, neurogenesis=None, dtype=dtype)
    net.place_sets(torch.zeros(3, 2), torch.tensor([math.inf, 2.0]).expand(3, 2))
    with torch.no_grad():
        net.logits[0] = 100.0
    w = net.log_firing(torch.randn(5, 3, dtype=dtype))
    assert (w == 0).all()
    w.sum().backward()
    assert not net.logits.grad.any()


@pytest.mark.parametrize("power", [1.0, 8.0, 1e6, math.inf])
@pytest.mark.parametrize("scale", [1e-30, 1e-6, 1e30])
def test_no_distance_is_too_small_or_too_great_for_single_precision(power, scale):
    net = Setup(D=6, U=5, reduce="worst", power=power, consequent="constant").network(dtype=torch.float32)
    x = (scale * torch.randn(4, 6)).requires_grad_()
    y = net(x)
    y.sum().backward()
    for tensor in (y, net.log_firing(x), x.grad, *(p.grad for p in net.parameters())):
        assert tensor is None or torch.isfinite(tensor).all()


@pytest.mark.parametrize("power", [3.0, math.inf])
def test_going_through_the_attributes_in_parts_changes_nothing(monkeypatch, power):
    setup = Setup(D=23, U=9, reduce="worst", power=power)
    net, x = built(setup)

    def computed():
        w = net.log_firing(x)
        return w, *torch.autograd.grad(w.square().sum(), [x, net.logits, net.centers])

    whole = computed()
    monkeypatch.setattr(worst, "AT_ONCE_ON_CPU", 5 * 9 * 2)
    parts = list(worst._parts(x, net.antecedent._choice()))
    assert [part.stop - part.start for part in parts] == [2] * 12
    for found, wanted in zip(computed(), whole, strict=True):
        torch.testing.assert_close(found, wanted, rtol=1e-10, atol=1e-10)


def test_evaluation_with_and_without_gradients_is_the_minimum():
    net, x = built(Setup(D=6, U=5, reduce="worst", power=2.0, estimator="ste"), training=False)
    with torch.no_grad():
        without = net.log_firing(x)
    torch.testing.assert_close(net.log_firing(x), without, rtol=1e-12, atol=0)
    soft = net.train().log_firing(x)
    assert (soft < without).all()


def trained(net, steps=30):
    optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
    torch.manual_seed(1)
    for _ in range(steps):
        x = 3 * torch.rand(16, net.in_features, dtype=net.centers.dtype)
        optimizer.zero_grad()
        (net(x) - x[:, :1].sin()).square().mean().backward()
        optimizer.step()
    return net


def growing(reduce, **options):
    torch.manual_seed(0)
    growth = npl.Neurogenesis(delay=2)
    firing = npl.Firing(reduce=reduce, layer_norm=False, alpha=1.0, gain=2.0, balance=0.01)
    return npl.NeuroFuzzyNetwork(3, 1, 6, firing=firing, neurogenesis=growth, **options)


@pytest.mark.parametrize("reduce", ["scaled", "worst"])
def test_the_gain_starts_where_it_was_asked_to_learns_and_travels(reduce, tmp_path):
    net = growing(reduce)
    assert float(net.gain.detach()) == pytest.approx(2.0, rel=1e-6)
    trained(net).eval()
    assert net.births
    assert float(net.gain.detach()) != pytest.approx(2.0, rel=1e-3)
    npl.save(net, tmp_path / "net.safetensors")
    x = torch.rand(5, 3)
    for twin in (npl.load(tmp_path / "net.safetensors"), copy.deepcopy(net)):
        assert twin.firing_config == net.firing_config
        assert torch.equal(twin.eval()(x), net(x))
    assert "log_gain" in net.state_dict()


def test_a_gain_stays_within_its_bounds_and_finds_back():
    net = growing("worst", dtype=torch.float64)
    for stored, gain in ((100.0, 1e8), (-100.0, 1e-8)):
        with torch.no_grad():
            net.log_gain.fill_(stored)
        assert float(net.gain.detach()) == pytest.approx(gain, rel=1e-12)
        assert torch.isfinite(net(torch.rand(4, 3, dtype=torch.float64))).all()
        assert npl.rule_base(net).firing.gain == pytest.approx(gain, rel=1e-12)
        assert torch.autograd.grad(net.gain, net.log_gain)[0] != 0


def test_networks_without_a_gain_have_no_parameter_for_it():
    net = npl.NeuroFuzzyNetwork(3, 1, 4)
    assert net.gain is None
    assert net.log_gain is None
    assert not any("gain" in name for name in net.state_dict())


def test_configurations_of_before_are_read_and_an_infinite_power_is_text():
    config = npl.NeuroFuzzyNetwork(3, 1, 4).config()
    for name in ("gain", "power", "balance"):
        del config["firing"][name]
    assert npl.NeuroFuzzyNetwork.from_config(config).firing_config == npl.Firing()
    net = npl.NeuroFuzzyNetwork(3, 1, 4, firing=npl.Firing(reduce="worst", power=math.inf))
    assert net.config()["firing"]["power"] == "inf"
    assert npl.NeuroFuzzyNetwork.from_config(net.config()).firing_config == net.firing_config


@pytest.mark.parametrize("reduce", ["scaled", "worst"])
def test_the_gain_learns_until_every_rule_is_frozen(reduce):
    net = growing(reduce)
    net.freeze(rules=range(5))
    before = float(net.gain.detach())
    trained(net, 5)
    assert float(net.gain.detach()) != before
    net.freeze()
    kept, x = float(net.gain.detach()), torch.rand(5, 3)
    answer = net.eval()(x)
    trained(net.train(), 5)
    assert float(net.gain.detach()) == kept
    assert float(net.log_gain.exp().detach()) == pytest.approx(kept, rel=1e-6)
    assert torch.equal(net.eval()(x), answer)


def test_the_gain_learns_with_the_structure():
    net = growing("scaled")
    fast, slow = npl.parameter_groups(net, 0.1)
    assert any(parameter is net.log_gain for parameter in slow["params"])
    assert not any(parameter is net.log_gain for parameter in fast["params"])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision_computes_in_single(dtype):
    net = growing("worst").to(dtype)
    x = torch.rand(4, 3, dtype=dtype)
    assert net(x).dtype == dtype
    assert net.gain.dtype == torch.float32
    assert torch.isfinite(net.log_firing(x)).all()


def test_every_level_of_a_hierarchy_has_its_own_gain():
    net = npl.Hierarchy([3, 4, 1], 5, firing=npl.Firing(reduce="worst", gain=0.5))
    assert [float(level.gain.detach()) for level in net.levels] == pytest.approx([0.5, 0.5])
    trained(net.levels[0])
