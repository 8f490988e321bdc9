"""An explanation's parts add up to the network's own output, whatever its options."""

from itertools import product

import numpy as np
import pytest
import torch
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import neuroplastic as npl
from neuroplastic.rules.explanations.sharing import shares_of
from tests import reference
from tests.random_network import Setup, array

CONSEQUENTS = (
    "affine",
    "constant",
    npl.LowRank(2),
    npl.Mamdani(4, "height"),
    npl.Mamdani(4, "area"),
)
OPTIONS = tuple(
    product(
        ("sum", "mean", "scaled", "worst"),
        (1.0, 1.3, 1.5, 2.0, "learn"),
        (False, True),
        (None, "log", "tanh"),
        CONSEQUENTS,
    )
)[::2]
ROWS = 34


def setup_of(reduce, alpha, layer_norm, certainty, consequent, **sizes):
    return Setup(
        reduce=reduce,
        alpha=alpha,
        layer_norm=layer_norm,
        certainty=certainty,
        consequent=consequent,
        **sizes,
    )


def observations(rows, columns, seed=0, dtype=torch.float64):
    return torch.tensor(np.random.default_rng(seed).normal(size=(rows, columns)), dtype=dtype)


def summed(explanation, parts):
    """Sum over the fired rules of each row."""
    rows = np.repeat(np.arange(len(explanation)), np.diff(explanation.starts))
    total = np.zeros((len(explanation), *parts.shape[1:]))
    np.add.at(total, rows, parts)
    return total


def test_ten_thousand_cases_over_all_options_add_up_to_the_output_of_the_network():
    precisions = np.random.default_rng(0).permutation([torch.float64, torch.float32] * (len(OPTIONS) // 2))
    assert sum(adds_up(*case) for case in enumerate(zip(OPTIONS, precisions, strict=True))) == 10_200


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_all_options_add_up_in_both_precisions(dtype):
    for start in (1000, 2000, 3000):
        for seed, options in enumerate(OPTIONS, start):
            adds_up(seed, (options, dtype))


def adds_up(seed, chosen):
    """Check one network on ROWS observations."""
    options, dtype = chosen
    net = setup_of(*options, U=3 + seed % 9).network(seed, dtype).eval()
    x = observations(ROWS, net.in_features, seed, dtype)
    explanation = npl.explain(net, x)
    with torch.no_grad():
        output, firing = array(net(x)), array(net.firing(x))
    np.testing.assert_allclose(explanation.output, output, rtol=0, atol=0)
    np.testing.assert_allclose(summed(explanation, explanation.shares), output, rtol=1e-6, atol=0)
    np.testing.assert_allclose(summed(explanation, explanation.firing), 1, rtol=1e-6)
    dense = np.zeros_like(firing)
    rows = np.repeat(np.arange(ROWS), np.diff(explanation.starts))
    dense[rows, explanation.fired] = explanation.firing
    np.testing.assert_array_equal(dense, firing)
    # What makes them add up is no more than rounding: the shares themselves are firing times decision.
    exact = shares_of(explanation.rules, explanation.x, rows, explanation.fired, explanation.firing)
    rounding = 1e-12 if dtype == torch.float64 else 3e-6
    np.testing.assert_allclose(explanation.shares, exact, rtol=rounding, atol=rounding)
    for case in (explanation[0], explanation[1]):
        np.testing.assert_allclose(
            case.attribute_parts.sum(axis=2) + case.constant_parts, case.shares, rtol=1e-6, atol=1e-12
        )
        np.testing.assert_allclose(
            case.log_firing, explanation.log_firing[case.row, case.fired], rtol=1e-6, atol=1e-9
        )
    return ROWS


@pytest.mark.parametrize("consequent", CONSEQUENTS, ids=str)
@pytest.mark.parametrize("options", [("sum", 1.5, True, None), ("mean", 1.0, False, "log")], ids=str)
def test_each_share_is_what_the_oracle_says_the_rule_adds(options, consequent):
    setup = setup_of(*options, consequent)
    net = setup.network(3).eval()
    x = observations(6, net.in_features, 3)
    steps, explanation = setup.oracle(net, x), npl.explain(net, x)
    for case in explanation:
        firing = steps["firing"][case.row]
        for place, rule in enumerate(case.fired.tolist()):
            alone = np.zeros_like(firing)
            alone[rule] = 1.0
            weight = firing[rule]
            if isinstance(consequent, npl.Mamdani) and consequent.defuzzifier == "area":
                widths = array(net.output_widths)
                chosen = np.take_along_axis(widths.T, array(net.conclusions()), axis=0)
                weight = firing[rule] * chosen[rule] / (firing @ chosen)
            decided = setup.decided(net, array(x[case.row : case.row + 1]), alone[None])[0]
            np.testing.assert_allclose(case.shares[place], weight * decided, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("layer_norm", [False, True])
def test_of_worst_premises_the_worst_adds_all_and_every_premise_shows_how_well_it_fits(layer_norm):
    setup = Setup(layer_norm=layer_norm, reduce="worst", alpha=1.0)
    net = setup.network(6).eval()
    x = observations(4, net.in_features, 6)
    explanation, steps = npl.explain(net, x), setup.oracle(net, x)
    log_mu = reference.log_memberships(array(x), array(net.centers), array(net.widths))
    np.testing.assert_allclose(explanation.log_firing, steps["log_firing"], rtol=1e-9)
    for case in explanation:
        for place, rule in enumerate(case.fired.tolist()):
            chosen = log_mu[case.row, np.arange(setup.D), steps["terms"][rule]]
            np.testing.assert_allclose(case.memberships[place], np.exp(chosen), rtol=1e-9)
            parts = case.premise_parts[place]
            assert np.count_nonzero(parts) == 1
            assert parts.argmin() == chosen.argmin()
        rivals = case.strongest, case.alternative
        lead = case.margins(*rivals).sum() + case.own_margin(*rivals)
        scores = explanation.scores[case.row]
        np.testing.assert_allclose(lead, scores[rivals[0]] - scores[rivals[1]], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("layer_norm", [False, True])
def test_premise_parts_and_scores_are_those_of_the_oracle(layer_norm):
    setup = Setup(layer_norm=layer_norm, certainty="log", reduce="mean")
    net = setup.network(5).eval()
    x = observations(4, net.in_features, 5)
    explanation, steps = npl.explain(net, x), setup.oracle(net, x)
    log_mu = reference.log_memberships(array(x), array(net.centers), array(net.widths))
    np.testing.assert_allclose(explanation.log_firing, steps["log_firing"], rtol=1e-9)
    np.testing.assert_allclose(reference.entmax(explanation.scores, 1.5), steps["firing"], atol=1e-7)
    for case in explanation:
        for place, rule in enumerate(case.fired.tolist()):
            chosen = [log_mu[case.row, i, steps["terms"][rule, i]] for i in range(setup.D)]
            np.testing.assert_allclose(case.premise_parts[place] * setup.D, chosen, rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(case.memberships[place], np.exp(chosen), rtol=1e-9)


@pytest.mark.parametrize("consequent", CONSEQUENTS, ids=str)
def test_with_scalers_the_parts_add_up_in_raw_units(consequent):
    rng = np.random.default_rng(0)
    raw = rng.normal([100, -3, 0.01, 5000], [20, 1, 0.002, 900], size=(50, 4))
    targets = rng.normal([7, 1e4], [2, 300], size=(50, 2))
    scaler, output_scaler = StandardScaler().fit(raw), MinMaxScaler().fit(targets)
    net = Setup(consequent=consequent).network(1).eval()
    explanation = npl.explain(net, raw, scaler=scaler, output_scaler=output_scaler)
    with torch.no_grad():
        seen = net(torch.from_numpy(scaler.transform(raw))).numpy()
    expected = output_scaler.inverse_transform(seen)
    np.testing.assert_allclose(explanation.output, expected, rtol=1e-9)
    np.testing.assert_allclose(summed(explanation, explanation.shares), expected, rtol=1e-6)
    np.testing.assert_array_equal(explanation.x, raw)
    again = npl.Explainer(net, scaler=scaler, output_scaler=output_scaler).of_features(
        torch.from_numpy(scaler.transform(raw))
    )
    np.testing.assert_allclose(again.x, raw, rtol=1e-9)
    np.testing.assert_allclose(again.output, expected, rtol=1e-9)
    plain = npl.explain(net, scaler.transform(raw))
    np.testing.assert_array_equal(explanation.fired, plain.fired)
    np.testing.assert_allclose(explanation.scores, plain.scores, rtol=1e-6, atol=1e-9)
    # Firing levels add up to 1, so a raw share is the scaled one and the rule's part of the offset.
    if not isinstance(consequent, npl.Mamdani):
        scale, offset = output_scaler.data_range_, output_scaler.data_min_
        np.testing.assert_allclose(
            explanation.shares,
            plain.shares * scale + explanation.firing[:, None] * offset,
            rtol=1e-6,
            atol=1e-6,
        )


def test_rules_come_strongest_first_and_all_that_fired_are_there():
    explanation = npl.explain(Setup(U=20).network(2), observations(40, 4, 2))
    for case in explanation:
        assert (np.diff(case.firing) <= 0).all()
        assert (case.firing > 0).all()
        assert case.strongest == case.fired[0]
        others = np.delete(explanation.scores[case.row], case.strongest)
        assert explanation.scores[case.row, case.alternative] == others.max()


@pytest.mark.parametrize("layer_norm", [False, True])
@pytest.mark.parametrize("certainty", [None, "log", "tanh"])
def test_margins_add_up_to_the_lead_in_score_and_relevance_to_one(layer_norm, certainty):
    setup = Setup(U=12, layer_norm=layer_norm, certainty=certainty)
    explanation = npl.explain(setup.network(2), observations(9, 4, 2))
    for case in explanation:
        pair = case.strongest, case.alternative
        lead = explanation.scores[case.row, pair[0]] - explanation.scores[case.row, pair[1]]
        assert lead > 0
        parts = case.margins(*pair).sum() + case.own_margin(*pair)
        np.testing.assert_allclose(parts, lead, rtol=1e-6, atol=1e-12)
        np.testing.assert_allclose(case.relevance().sum(), 1)
        np.testing.assert_allclose(case.relevance("y2").sum(), 1)


def test_one_observation_lists_and_integers_are_taken_like_a_batch():
    net = Setup().network(0).eval()
    x = observations(1, 4)
    whole = npl.explain(net, x)
    for given in (x[0], x[0].tolist(), x.numpy()):
        np.testing.assert_array_equal(npl.explain(net, given).shares, whole.shares)
    assert len(npl.explain(net, torch.tensor([[1, 0, 2, 1]]))) == 1
    assert len(npl.explain(net, x[:0])) == 0


def test_explaining_leaves_mode_noise_and_growth_alone():
    net = npl.NeuroFuzzyNetwork(4, 2, 6, neurogenesis=npl.Neurogenesis(delay=1, min_count=1))
    net.consequent.eval()
    before = net.state_dict()
    explanation = npl.explain(net, torch.full((5, 4), 50.0))
    assert net.training
    assert not net.consequent.training
    assert net.births == []
    for name, value in net.state_dict().items():
        assert torch.equal(value, before[name]), name
    with torch.no_grad():
        np.testing.assert_array_equal(explanation.output, array(net.eval()(torch.full((5, 4), 50.0))))


def test_an_explanation_stays_as_it_was_when_the_network_learns_on():
    net = Setup().network(0)
    explanation = npl.explain(net, observations(3, 4))
    text = str(explanation)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.add_(1.0)
    assert str(explanation) == text
    with pytest.raises(ValueError, match="read-only"):
        explanation.shares[0] = 0


def test_an_explainer_reads_the_rules_again_when_the_network_has_learned_on():
    net, x = Setup().network(0), observations(3, 4)
    explainer = npl.Explainer(net)
    rules = explainer(x).rules
    assert explainer(x).rules is rules
    for change in (lambda p: p.add_(0.5), lambda p: p.data.add_(0.5)):
        with torch.no_grad():
            change(net.centers)
        np.testing.assert_array_equal(explainer(x).shares, npl.explain(net, x).shares)
        np.testing.assert_array_equal(explainer(x).scores, npl.explain(net, x).scores)
    assert explainer(x).rules is not rules


def test_half_precision_inputs_add_up_to_the_half_precision_output():
    net = Setup().network(0, torch.float32).eval()
    x = observations(8, 4, dtype=torch.bfloat16)
    explanation = npl.explain(net, x)
    with torch.no_grad():
        np.testing.assert_allclose(summed(explanation, explanation.shares), array(net(x)), rtol=1e-6)


def test_extreme_inputs_and_zero_consequents_give_no_nan():
    net = npl.NeuroFuzzyNetwork(3, 2, 5, consequent=npl.Affine("zeros")).eval()
    explanation = npl.explain(net, torch.tensor([[1e30, -1e30, 0.0], [0.0, 0.0, 0.0]]))
    assert np.isfinite(explanation.shares).all()
    assert np.isfinite(explanation.scores).all()
    assert "nan" not in str(explanation)


def test_one_rule_has_no_alternative():
    case = npl.explain(Setup(U=1).network(0), observations(1, 4))[0]
    assert case.alternative is None
    assert case.change is None
    assert "1 of 1 rule fired; here it is" in str(case)
    assert "there is no other rule" in str(case)


def test_a_rule_that_ignores_an_attribute_does_not_speak_of_it():
    net = npl.NeuroFuzzyNetwork(2, 1, 2, terms=2, max_terms=2, consequent="constant").eval()
    net.place_sets(torch.tensor([[0.0, 1.0], [0.0, 1.0]]), torch.tensor([[0.5, 0.5], [0.5, torch.inf]]))
    with torch.no_grad():
        net.logits.zero_()
        net.logits[1, 1] = 5.0  # both rules take "any" of the second attribute
        net.logits[1, 0, 1] = 5.0
    case = npl.explain(net, torch.tensor([[0.1, 9.0]]))[0]
    assert (case.premise_parts[:, 1] == 0).all()
    assert "x2" not in str(case)
    assert case.change.attribute == 0


def test_levels_of_a_hierarchy_are_explained_one_by_one():
    torch.manual_seed(0)
    net = npl.Hierarchy([6, 5, 4, 2], 16).eval()
    x = torch.rand(7, 6)
    top = npl.explain(net, x, feature_names=list("abcdef"), output_names=["left", "right"])
    assert [len(level.rules.inputs) for level in top.levels] == [6, 5, 4]
    with torch.no_grad():
        hidden = x
        for level, explanation in zip(net.levels, top.levels, strict=True):
            np.testing.assert_array_equal(explanation.x, array(hidden))
            hidden = level(hidden)
            np.testing.assert_allclose(summed(explanation, explanation.shares), array(hidden), rtol=1e-6)
        np.testing.assert_array_equal(top.output, array(net(x)))
    text = top.text(0)
    first = np.argmax(top[0].relevance())
    assert f"of what mattered here was h2.{first + 1} = {top[0].x[first]:.4g}:" in text
    assert " a is " in text
    assert text.count("of 16 rules fired") == 3


def test_text_tells_outcome_rules_premises_and_alternative():
    net = npl.NeuroFuzzyNetwork(
        2, 1, 3, terms=2, max_terms=2, consequent="constant", firing=npl.Firing(layer_norm=False, alpha=2.0)
    ).eval()
    net.place_sets(torch.tensor([[0.0, 10.0], [0.0, 1.0]]), torch.tensor([[5.0, 5.0], [0.5, 0.5]]))
    with torch.no_grad():
        net.logits.zero_()
        net.logits[1, 0, 1] = net.logits[1, 1, 2] = 5.0
        net.bias.copy_(torch.tensor([[1.0], [3.0], [-4.0]]))
    text = npl.explain(net, [[4.0, 0.0]], feature_names=["heat", "noise"], output_names=["risk"]).text()
    # Sparsemax of the log-firings -0.32 and -0.72 is 0.5 +- 0.2.
    assert text.splitlines() == [
        "risk = 1.6",
        "2 of 3 rules fired; here are all of them:",
        "  rule 1 fired 70 % and added +0.7 to risk: IF heat is low (4, fits 73 %) AND noise is low (0, fits 100 %)",
        "  rule 2 fired 30 % and added +0.9 to risk: IF heat is high (4, fits 49 %) AND noise is low (0, fits 100 %)",
        "next in line: rule 2 (fired 30 %; held back most by heat); "
        "it would be the strongest if heat rose from 4 past 5",
    ]


def test_sets_can_have_names_of_your_own():
    net = npl.NeuroFuzzyNetwork(2, 1, 3, terms=2, max_terms=2)
    text = npl.explain(net, [[0.1, 0.9]], terms={"x1": ["cold", "hot"]}).text()
    assert "x1 is cold" in text or "x1 is hot" in text
    deep = npl.Hierarchy([2, 2, 1], 3, terms=2, max_terms=2)
    words = {"x1": ["cold", "hot"], "x2": ["dry", "wet"], "h1.1": ["calm", "wild"], "h1.2": ["dull", "keen"]}
    text = npl.explain(deep, [[0.1, 0.9]], terms=words).text()
    assert any(f"{name} is {word}" in text for name in ("h1.1", "h1.2") for word in words[name])
    assert " is low" not in text
    assert " is high" not in text


def test_text_of_many_observations_says_how_many_more_there_are():
    text = str(npl.explain(Setup().network(0), observations(8, 4)))
    assert text.count("observation ") == 5
    assert text.endswith("... and 3 more observations")


def test_wrong_arguments_are_refused_by_name():
    net = Setup().network(0)
    with pytest.raises(npl.InputError, match="4 columns"):
        npl.explain(net, torch.zeros(2, 3))
    with pytest.raises(npl.InputError, match="finite"):
        npl.explain(net, torch.full((2, 4), torch.nan))
    with pytest.raises(npl.InputError, match="must be numbers"):
        npl.explain(net, [["warm"] * 4])
    with pytest.raises(npl.ConfigError, match="NeuroFuzzyNetwork or a Hierarchy"):
        npl.explain(torch.nn.Linear(4, 2), torch.zeros(2, 4))
    with pytest.raises(npl.ConfigError, match="feature_names"):
        npl.explain(net, torch.zeros(2, 4), feature_names=["a"])
    explanation = npl.explain(net, torch.zeros(2, 4))
    with pytest.raises(npl.InputError, match="output must be one of y1, y2"):
        explanation.text(0, output="y3")
    with pytest.raises(IndexError, match="2 observations"):
        explanation[2]
    with pytest.raises(npl.InputError, match="not the strongest"):
        explanation[0].change_for(explanation[0].strongest)


def test_a_part_that_is_next_to_nothing_is_not_told_to_four_digits():
    rules = "IF x is low THEN y is 1\nIF x is high THEN y is 2"
    net = npl.from_rules(
        rules, {"x": {"low": (0, 1), "high": (9, 1)}}, firing=npl.Firing(layer_norm=False, alpha=1.0)
    )
    told = npl.explain(net, [[0.0]]).text(0)
    assert "rule 1 fired" in told
    assert "and added next to nothing to y: IF x is high" in told
