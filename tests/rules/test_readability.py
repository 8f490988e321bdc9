"""Figures of readability: each against its definition, and the laws of rule stability."""

import numpy as np
import pytest
import torch

import neuroplastic as npl
from neuroplastic.rules.measures.overlap import jaccard
from neuroplastic.rules.measures.stability import best_match
from tests.random_network import Setup


def numeric_jaccard(a, s, b, t):
    """By a sum over a fine grid that reaches far beyond both sets."""
    x = np.linspace(min(a - 12 * s, b - 12 * t), max(a + 12 * s, b + 12 * t), 400_001)
    first, second = np.exp(-0.5 * ((x - a) / s) ** 2), np.exp(-0.5 * ((x - b) / t) ** 2)
    return np.minimum(first, second).sum() / np.maximum(first, second).sum()


@pytest.mark.parametrize(
    ("a", "s", "b", "t"),
    [
        (0.0, 1.0, 0.0, 1.0),
        (0.0, 1.0, 1.0, 1.0),
        (0.0, 1.0, 0.0, 2.0),
        (0.3, 0.2, -1.0, 1.5),
        (0.3, 1.5, -1.0, 0.2),
        (2.0, 0.5, 1.0, 0.6),
        (-1.0, 0.7, 4.0, 0.7),
        (0.0, 1.0, 0.5, 1.0 + 1e-9),
    ],
)
def test_overlap_in_closed_form_is_the_integral(a, s, b, t):
    found = jaccard(*(torch.tensor(number, dtype=torch.float64) for number in (a, s, b, t)))
    assert float(found) == pytest.approx(numeric_jaccard(a, s, b, t), abs=1e-6)


def test_overlap_is_symmetric_and_does_not_care_for_place_or_scale():
    rng = torch.Generator().manual_seed(0)
    a, b = torch.randn(2, 50, generator=rng, dtype=torch.float64)
    s, t = torch.rand(2, 50, generator=rng, dtype=torch.float64) + 0.1
    alike = jaccard(a, s, b, t)
    torch.testing.assert_close(alike, jaccard(b, t, a, s))
    torch.testing.assert_close(alike, jaccard(7 + 3 * a, 3 * s, 7 + 3 * b, 3 * t))
    assert bool(((alike >= 0) & (alike <= 1)).all())
    torch.testing.assert_close(jaccard(a, s, a, s), torch.ones_like(a))


def two_attributes():
    """Three rules over sets at 0 and 2 of the first attribute; nobody asks for the second, whose one set is "any"."""
    net = npl.NeuroFuzzyNetwork(
        2, 1, rules=3, terms=2, max_terms=2, firing=npl.Firing(layer_norm=False), neurogenesis=None
    ).double()
    net.place_sets(
        torch.tensor([[0.0, 2.0], [0.0, 0.0]]),
        torch.tensor([[0.5, 0.5], [torch.inf, 1.0]]),
        torch.tensor([[True, True], [True, False]]),
    )
    with torch.no_grad():
        net.logits.zero_()
        net.logits[0, 0] = torch.tensor([3.0, 3.0, 0.0])
        net.logits[1, 0] = torch.tensor([0.0, 0.0, 3.0])
    return net


def test_figures_of_a_network_that_can_be_counted_by_hand():
    x = torch.tensor([[0.0, 9.0], [0.1, 9.0], [2.0, 9.0], [1.0, 9.0]], dtype=torch.float64)
    figures = npl.readability(two_attributes(), x, feature_names=["size", "age"])
    assert (figures.rules, figures.distinct_rules, figures.sets, figures.unused_sets) == (3, 2, 2, 0)
    assert (figures.premises, figures.most_premises, figures.premises_per_rule) == (3, 1, 1.0)
    assert figures.used_attributes == 1
    size, age = figures.attributes
    assert (size.name, size.sets, size.rules) == ("size", 2, 3)
    assert (age.sets, age.rules, age.overlap, age.coverage) == (0, 0, None, None)
    # 1.0 lies two widths from both sets: exp(-2) = 0.14 is below 0.3
    assert size.coverage == figures.coverage == figures.complete_rows == 0.75
    expected = numeric_jaccard(0, 0.5, 2, 0.5)
    assert figures.overlap == pytest.approx(expected, abs=1e-6)
    assert figures.distinguishability == pytest.approx(1 - expected, abs=1e-6)
    # At 0 the twin rules share the decision, at 2 the third has it, at 1 all three are alike.
    assert figures.firing.active_most == 3
    assert figures.firing.active_mean == pytest.approx((2 + 2 + 1 + 3) / 4)
    assert figures.firing.leading == pytest.approx((0.5 + 0.5 + 1 + 1 / 3) / 4, abs=1e-3)
    assert figures.firing.idle == ()
    assert npl.readability(two_attributes(), x[:2]).firing.idle == (3,)
    assert "rules               3, of which 2 differ" in str(figures)
    assert ("rules", "3, of which 2 differ in their premises") in figures.lines()


def test_figures_without_data_leave_out_what_needs_them():
    figures = npl.readability(Setup().network())
    assert figures.firing is None
    assert figures.coverage is None
    assert "coverage" not in str(figures)


def test_coverage_is_the_networks_own_epsilon_completeness():
    net = Setup().network(seed=2, neurogenesis=npl.Neurogenesis(epsilon=0.6))
    x = torch.randn(80, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    figures = npl.readability(net, x.numpy())
    assert figures.epsilon == 0.6
    assert figures.coverage == pytest.approx(float(net.covered(x, 0.6).double().mean()))
    assert [a.coverage for a in figures.attributes] == pytest.approx(
        net.covered(x).double().mean(dim=0).tolist()
    )
    assert npl.readability(net, x, epsilon=0.01).coverage > figures.coverage


def test_a_hierarchy_has_figures_per_level():
    torch.manual_seed(0)
    net = npl.Hierarchy([4, 3, 2], rules=5)
    first, second = npl.readabilities(net, torch.rand(20, 4))
    assert (len(first.attributes), len(second.attributes)) == (4, 3)
    assert second.attributes[0].name == "h1.1"
    assert net.training
    with pytest.raises(npl.ConfigError, match="readabilities"):
        npl.readability(net)


def shuffled(net, seed):
    """The same rules and sets in another order of rules and slots."""
    rng = torch.Generator().manual_seed(seed)
    other = Setup().network(seed=99)
    rules = torch.randperm(net.rules, generator=rng)
    centers, widths, mask = (t.detach().clone() for t in (net.centers, net.widths, net.term_mask))
    logits = net.logits.detach()[..., rules].clone()
    for attribute in range(net.in_features):
        slots = torch.randperm(net.max_terms, generator=rng)
        for table in (centers, widths, mask):
            table[attribute] = table[attribute, slots]
        logits[:, attribute] = logits[slots, attribute]
    other.place_sets(centers, widths, mask)
    with torch.no_grad():
        other.logits.copy_(logits)
    return other


def test_equal_rules_are_stable_in_any_order_of_rules_and_sets():
    net = Setup().network(seed=1)
    stability = npl.rule_stability([net, shuffled(net, 0), shuffled(net, 1)])
    assert stability.least == pytest.approx(1.0, abs=1e-12)
    assert len(stability.pairs) == 3


def test_stability_falls_as_sets_move_and_with_rules_that_have_no_partner():
    net = Setup().network(seed=1)
    means = []
    for shift in (0.0, 0.2, 1.0, 100.0):
        moved = shuffled(net, 0)
        with torch.no_grad():
            moved.centers.add_(shift)
        means.append(npl.rule_stability([net, moved]).mean)
    assert means == sorted(means, reverse=True)
    assert means[-1] == pytest.approx(0.0, abs=1e-12)
    larger = Setup(U=9).network(seed=1)
    assert npl.rule_stability([net, larger]).mean <= 6 / 9
    assert "similarity" in str(npl.rule_stability([net, larger]))


def test_other_seeds_are_less_stable_than_the_same_one():
    nets = [Setup().network(seed=seed) for seed in range(4)]
    assert 0 < npl.rule_stability(nets).mean < 0.8


@pytest.mark.parametrize("shape", [(1, 1), (5, 5), (4, 9), (9, 4), (30, 30)])
def test_the_match_is_the_best_one(shape):
    optimize = pytest.importorskip("scipy.optimize")
    for seed in range(5):
        alike = np.random.default_rng(seed).random(shape)
        if seed % 2:
            alike = np.round(alike, 1)  # ties
        found, expected = best_match(alike), optimize.linear_sum_assignment(alike, maximize=True)
        assert len(set(found[0])) == len(set(found[1])) == min(shape)
        assert alike[found].sum() == pytest.approx(alike[expected].sum())


def test_mistakes_are_named():
    net = Setup().network()
    with pytest.raises(npl.ConfigError, match="at least two networks"):
        npl.rule_stability([net])
    with pytest.raises(npl.ConfigError, match="same inputs"):
        npl.rule_stability([net, Setup(D=3).network()])
    with pytest.raises(npl.ConfigError, match="epsilon must lie"):
        npl.readability(net, epsilon=1.5)
    with pytest.raises(npl.InputError, match="at least one row"):
        npl.readability(net, torch.empty(0, 4))
    with pytest.raises(npl.InputError, match="table of numbers"):
        npl.readability(net, [["a", "b", "c", "d"]])
