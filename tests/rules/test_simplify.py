"""Laws of simplification: the tolerance holds, exact steps are exact everywhere, the result is a network like any."""

import warnings
from dataclasses import replace

import pytest
import torch
from torch.nn import functional as F

import neuroplastic as npl
from neuroplastic.rules.simplification import refitting
from neuroplastic.rules.simplification.draft import draft_of
from neuroplastic.rules.simplification.draft_network import network_from
from tests.random_network import Setup

SETUPS = {
    "defaults": Setup(),
    "softmax": Setup(alpha=1.0, layer_norm=False),
    "mean and certainty": Setup(reduce="mean", alpha=2.0, layer_norm=False, certainty="log"),
    "layer norm and certainty": Setup(certainty="log"),
    "tanh": Setup(certainty="tanh", consequent="constant"),
    "scaled": Setup(reduce="scaled", alpha=1.0, layer_norm=False),
    "worst": Setup(reduce="worst", alpha=1.0, layer_norm=False, consequent="constant"),
    "learned alpha": Setup(alpha="learn", consequent="constant"),
    "low rank": Setup(consequent=npl.LowRank(2)),
    "mamdani height": Setup(consequent=npl.Mamdani(3)),
    "mamdani area": Setup(consequent=npl.Mamdani(3, "area")),
}


def rows(count=60, attributes=4, seed=1, dtype=torch.float64):
    return torch.randn(count, attributes, generator=torch.Generator().manual_seed(seed)).to(dtype)


def said(net, x):
    with torch.no_grad():
        return net.eval()(x)


def largest_change(net, simpler, x):
    """By definition: the greatest change over the output's own standard deviation on the rows."""
    before, after = said(net, x), said(simpler, x)
    return float(((after - before) / before.std(dim=0, unbiased=False)).abs().max())


@pytest.mark.parametrize("setup", SETUPS.values(), ids=SETUPS)
def test_a_draft_computes_what_its_network_computes_and_builds_it_again(setup):
    net, x = setup.network(seed=3).eval(), rows()
    draft = draft_of(net)
    torch.testing.assert_close(draft.outputs(x).detach(), said(net, x), rtol=1e-9, atol=1e-9)
    rebuilt = network_from(draft, net)
    torch.testing.assert_close(said(rebuilt, x), said(net, x), rtol=1e-9, atol=1e-9)
    assert rebuilt.rules == net.rules


@pytest.mark.parametrize("setup", SETUPS.values(), ids=SETUPS)
def test_tolerance_zero_changes_nothing_on_the_data(setup):
    net, x = setup.network(seed=4), rows()
    result = npl.simplify(net, x, 0.0)
    torch.testing.assert_close(said(result.network, x), said(net, x), rtol=0, atol=1e-6)
    assert all(step.change.largest <= 1e-9 for step in result.report.steps)


@pytest.mark.parametrize(
    ("setup", "refit"),
    [
        *((setup, False) for setup in SETUPS.values()),
        *((SETUPS[name], True) for name in ("defaults", "mamdani area", "worst")),
        *(pytest.param(setup, True, marks=pytest.mark.slow) for setup in SETUPS.values()),
    ],
)
def test_the_tolerance_is_respected_by_the_network_that_comes_back(setup, refit):
    net, x = setup.network(seed=5), rows()
    result = npl.simplify(net, x, 0.1, refit=refit, rounds=1)
    measured = largest_change(net, result.network, x)
    assert measured <= 0.1
    assert result.report.change.largest == pytest.approx(measured, rel=1e-9)
    assert all(step.change.largest <= 0.1 for step in result.report.steps)


def test_premises_that_are_never_the_worst_go_without_any_change():
    setup = Setup(D=3, U=5, reduce="worst", alpha=1.0, layer_norm=False, consequent="constant")
    net, x = setup.network(seed=12), rows(attributes=3)
    widths = net.widths.detach().clone()
    widths[1] = 1e3
    net.place_sets(net.centers.detach(), widths, net.term_mask.clone())
    result = npl.simplify(net, x, 0.0)
    assert (draft_of(result.network).premises[:, 1] == -1).all()
    torch.testing.assert_close(said(result.network, x), said(net, x), rtol=0, atol=1e-6)
    assert float(result.network.gain.detach()) == float(net.gain.detach())


def test_refitting_follows_the_worst_premise():
    net, x = Setup(reduce="worst").network(seed=13), rows()
    draft = draft_of(net).without_premises([(0, 1), (2, 3)])
    leaves = [table.clone().requires_grad_() for table in (draft.centers, draft.widths)]
    followed = replace(draft, centers=leaves[0], widths=leaves[1])
    _, center, precision = followed.chosen()
    dense = -((x.unsqueeze(2) - center).square() * precision).amax(dim=1)
    found = refitting._log_firing(followed, x)
    torch.testing.assert_close(found, dense)
    for ours, theirs in zip(
        torch.autograd.grad(found.square().sum(), leaves),
        torch.autograd.grad(dense.square().sum(), leaves),
        strict=True,
    ):
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-9)


def test_each_unit_and_measure_bounds_what_it_says():
    net, x = Setup(consequent="constant").network(seed=6), rows()
    absolute = npl.simplify(net, x, 0.2, unit="absolute", refit=False)
    assert absolute.report.steps
    assert float((said(absolute.network, x) - said(net, x)).abs().max()) <= 0.2
    result = npl.simplify(net, x, 0.1, measure="rms", rounds=1)
    deviation = said(net, x).std(dim=0, unbiased=False)
    rms = ((said(result.network, x) - said(net, x)) / deviation).square().mean().sqrt()
    assert result.report.change.rms == pytest.approx(float(rms), rel=1e-6)
    assert 0 < rms <= 0.1


def test_the_original_is_left_as_it_is():
    net, x = Setup(U=4).network(seed=7), rows(30)
    before = {name: tensor.clone() for name, tensor in net.state_dict().items()}
    state = torch.random.get_rng_state()
    npl.simplify(net, x, 0.3, rounds=1)
    assert net.training
    assert torch.equal(torch.random.get_rng_state(), state)
    for name, tensor in net.state_dict().items():
        assert torch.equal(tensor, before[name]), name


def doubled(net, pairs):
    """The network in which, per pair, the second rule has the premises of the first; all else stays."""
    with torch.no_grad():
        for first, second in pairs:
            net.logits[:, :, second] = net.logits[:, :, first]
    return net


@pytest.mark.parametrize("certainty", [None, "log"])
def test_duplicate_rules_merge_exactly_with_softmax_everywhere(certainty):
    setup = Setup(alpha=1.0, layer_norm=False, certainty=certainty)
    net = doubled(setup.network(seed=8), [(0, 1), (0, 2), (3, 4)])
    result = npl.simplify(net, rows(), 0.0)
    assert result.report.after.rules == 3
    assert any(step.name == "merge duplicate rules" and step.done == 3 for step in result.report.steps)
    elsewhere = 5 * rows(200, seed=9)
    torch.testing.assert_close(said(result.network, elsewhere), said(net, elsewhere), rtol=0, atol=1e-6)


@pytest.mark.parametrize("layer_norm", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_duplicate_rules_merge_within_a_tolerance_with_entmax(layer_norm):
    net = doubled(Setup(U=8, layer_norm=layer_norm, consequent="constant").network(seed=10), [(0, 1), (2, 3)])
    if layer_norm:
        with torch.no_grad():
            net.kappa.fill_(1.0)
            net.beta.zero_()
    report = npl.simplify(net, rows(), 0.4, rounds=1).report
    assert any(step.name == "merge duplicate rules" and step.done for step in report.steps)
    assert report.after.rules <= 6
    assert report.change.largest <= 0.4


def test_a_rule_that_never_fires_is_dropped_exactly_without_layer_norm():
    net, x = Setup(layer_norm=False, alpha=1.5).network(seed=11), rows()
    with torch.no_grad():
        used = net.premises()[5, 0]
        others = [t for t in net.term_mask[0].nonzero().squeeze(1).tolist() if t != used]
        net.logits[others[0], 0, :5] += 100  # only rule 5 uses its set, which lies far away
        net.centers[0, used] = 50.0
    assert not bool((net.eval().firing(x) > 0)[:, 5].any())
    report = npl.simplify(net, x, 0.0).report
    assert any(step.name == "drop rules that never fire" and step.done for step in report.steps)
    assert report.after.rules < 6


def test_a_rule_that_never_fires_is_dropped_within_a_tolerance_with_layer_norm():
    net, x = Setup(U=10).network(seed=12), rows()
    with torch.no_grad():
        net.beta[3] -= 50
    assert not bool((net.eval().firing(x) > 0)[:, 3].any())
    result = npl.simplify(net, x, 0.1, rounds=1)
    assert any(step.name == "drop rules that never fire" and step.done for step in result.report.steps)
    assert result.report.after.rules < 10
    assert result.report.change.largest <= 0.1


def test_twin_sets_merge_and_unused_sets_go_exactly_everywhere():
    net = Setup(max_terms=5).network(seed=13, mask=torch.ones(4, 5, dtype=torch.bool).numpy())
    with torch.no_grad():
        net.centers[:, 1] = net.centers[:, 0]
        net.antecedent.raw_widths[:, 1] = net.antecedent.raw_widths[:, 0]
        net.logits[4] = -50.0  # nobody uses the last set
    used = len({(d, t) for row in net.premises().tolist() for d, t in enumerate(row)})
    twins = sum({0, 1} <= set(net.premises()[:, d].tolist()) for d in range(4))
    assert twins
    x = rows(1, seed=14)  # one row: every other step would be measured on it, so look at these two alone
    draft = draft_of(net).without_unused_sets()
    assert draft.size.sets == used
    merged = network_from(draft.merging_sets([(d, 0, 1) for d in range(4)]), net)
    elsewhere = 3 * rows(100, seed=15)
    torch.testing.assert_close(said(merged, elsewhere), said(net, elsewhere), rtol=0, atol=1e-9)
    report = npl.simplify(net, rows(), 0.0).report
    assert report.after.sets <= used - twins
    assert npl.simplify(net, x, 0.0).report.rows == 1


def test_premises_that_never_matter_become_any():
    net, x = Setup(layer_norm=False).network(seed=16), rows()
    x[:, 2] = 0.25  # an attribute that never varies, and one set that is all there is
    with torch.no_grad():
        net.term_mask[2] = torch.tensor([True, False, False, False])
    result = npl.simplify(net, x, 0.0)
    assert result.network.antecedent.any_mask[2].any()
    assert len(npl.rule_base(result.network).inputs[2].terms) == 0
    torch.testing.assert_close(said(result.network, x), said(net, x), rtol=0, atol=1e-6)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 6))])
def test_simplifying_again_at_tolerance_zero_finds_nothing(seed):
    net, x = Setup().network(seed=seed), rows(30)
    once = npl.simplify(net, x, 0.2, rounds=1)
    again = npl.simplify(once.network, x, 0.0)
    assert again.report.before == once.report.after
    assert again.report.after == once.report.after


def test_the_report_counts_what_a_rule_base_holds():
    net, x = Setup(U=8).network(seed=17), rows()
    result = npl.simplify(net, x, 0.2, refit=False)
    for network, size in ((net, result.report.before), (result.network, result.report.after)):
        base = npl.rule_base(network)
        assert size.rules == len(base)
        assert size.sets == sum(len(variable.terms) for variable in base.inputs)
        assert size.premises == sum(len(rule.premises) for rule in base)
    text = str(result)
    assert "rules" in text
    assert "allowed  0.2 largest change" in text


def test_a_trained_network_with_births_trains_on_saves_and_loads(tmp_path):
    torch.manual_seed(0)
    x = torch.rand(200, 3) * 4
    y = (x[:, :1] - 2).square() + x[:, 1:2]
    net = npl.NeuroFuzzyNetwork(
        3,
        1,
        10,
        max_terms=6,
        selection=npl.Selection("ste"),
        neurogenesis=npl.Neurogenesis(delay=2, min_width=0.5),
    )

    def loss_after(network, steps):
        optimizer = torch.optim.Adam(network.parameters(), lr=0.02)
        network.train()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", npl.CapacityWarning)
            for _ in range(steps):
                optimizer.zero_grad()
                F.mse_loss(network(x), y).backward()
                optimizer.step()
        return float(F.mse_loss(said(network, x), y))

    loss_after(net, 100)
    assert net.births
    simpler = npl.simplify(net, x, 0.3, rounds=1).network
    assert simpler.rules < net.rules
    assert simpler.selection == net.selection
    assert simpler.neurogenesis == net.neurogenesis
    assert simpler.antecedent.growth.batches == net.antecedent.growth.batches
    slots = {(birth.attribute, birth.term) for birth in simpler.births}
    assert all(simpler.antecedent.covering_mask[slot] for slot in slots)
    path = tmp_path / "simpler.safetensors"
    npl.save(simpler, path)
    assert torch.equal(said(npl.load(path), x), said(simpler, x))
    before = float(F.mse_loss(said(simpler, x), y))
    assert loss_after(simpler, 100) < before


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_the_result_has_the_type_of_the_original_and_the_tolerance_holds_in_it(dtype):
    net = Setup(consequent="constant").network(seed=18).to(dtype)
    x = rows(dtype=dtype)
    result = npl.simplify(net, x, 0.2, rounds=1, refit=False)
    assert result.network.centers.dtype == dtype
    before, after = said(net, x).double(), said(result.network, x).double()
    assert float(((after - before) / before.std(dim=0, unbiased=False)).abs().max()) <= 0.2


def test_a_hierarchy_is_simplified_level_by_level_and_measured_at_the_top(tmp_path):
    torch.manual_seed(1)
    net = npl.Hierarchy([4, 3, 2], rules=[6, 5], neurogenesis=None, dtype=torch.float64)
    x = rows()
    result = npl.simplify(net, x, 0.3, rounds=1)
    assert isinstance(result.network, npl.Hierarchy)
    assert largest_change(net, result.network, x) <= 0.3
    assert {step.level for step in result.report.steps} == {1, 2}
    assert result.report.after.rules < result.report.before.rules == 11
    assert result.report.after.rules == sum(level.rules for level in result.network.levels)
    npl.save(result.network, tmp_path / "hierarchy")
    assert torch.equal(said(npl.load(tmp_path / "hierarchy"), x), said(result.network, x))


def test_frozen_rules_and_sets_stay():
    net, x = Setup(U=8).network(seed=19), rows()
    attribute, term = 1, int(net.premises()[0, 1])
    net.freeze(rules=[0, 2], sets=[(attribute, term)])
    simpler = npl.simplify(net, x, 0.5, rounds=1).network
    rules, sets = simpler.frozen
    assert len(rules) == 2
    assert len(sets) == 1
    for old, new in zip((0, 2), rules, strict=True):
        torch.testing.assert_close(simpler.weight[new], net.weight[old], rtol=0, atol=0)
        torch.testing.assert_close(simpler.kappa[new], net.kappa[old], rtol=0, atol=0)
        assert len(npl.rule_base(simpler)[new].premises) == 4
    assert simpler.centers[sets[0]] == net.centers[attribute, term]
    torch.testing.assert_close(simpler.widths[sets[0]], net.widths[attribute, term], rtol=1e-12, atol=0)
    assert simpler.rules < 8


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"tolerance": -0.1}, npl.ConfigError, "tolerance must be"),
        ({"tolerance": float("nan")}, npl.ConfigError, "tolerance must be"),
        ({"measure": "mean"}, npl.ConfigError, "measure must be one of"),
        ({"unit": "percent"}, npl.ConfigError, "unit must be one of"),
        ({"rounds": 0}, npl.ConfigError, "rounds must be"),
        ({"data": torch.empty(0, 4)}, npl.InputError, "at least one row"),
        ({"data": torch.zeros(3, 5)}, npl.InputError, "must have 4 columns"),
        ({"data": torch.full((3, 4), torch.nan)}, npl.InputError, "must be finite"),
        ({"net": torch.nn.Linear(4, 2)}, npl.ConfigError, "must be a NeuroFuzzyNetwork"),
    ],
)
def test_mistakes_are_named(arguments, error, message):
    whole = {"net": Setup().network(), "data": rows(), "tolerance": 0.1} | arguments
    with pytest.raises(error, match=message):
        npl.simplify(**whole)
