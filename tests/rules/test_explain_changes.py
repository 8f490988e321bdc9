"""The smallest change of one attribute that lets another rule take over: exact, against a scan of the line."""

import numpy as np
import pytest
import torch

import neuroplastic as npl
from neuroplastic.rules.explanations.wording import moved
from tests.random_network import Setup, place

SETUPS = {
    "plain": Setup(layer_norm=False, U=6),
    "certainty": Setup(layer_norm=False, U=6, certainty="log", reduce="mean"),
    "tanh": Setup(layer_norm=False, U=6, certainty="tanh"),
    "layer norm": Setup(U=7),
    "layer norm and certainty": Setup(U=7, certainty="log", alpha=1.0),
    "layer norm and tanh": Setup(U=5, certainty="tanh", reduce="mean"),
    "two rules": Setup(U=2, certainty="log"),
    "scaled": Setup(layer_norm=False, U=6, reduce="scaled"),
    "worst": Setup(layer_norm=False, U=6, reduce="worst"),
    "worst and certainty": Setup(layer_norm=False, U=6, reduce="worst", certainty="log"),
}
REACH = 30.0  # steps to either side that the scan looks at
POINTS = 6001


def scanned(explanation, case, rule):
    """Steps to the first point of a grid along an attribute at which `rule` is the strongest, or ties with it.

    Rules that are compared by one and the same worst premise tie over whole stretches.
    """
    scoring = explanation.scoring
    steps = np.linspace(0, REACH, POINTS)[1:]
    best = np.inf
    for attribute in range(len(case.x)):
        for sign in (1, -1):
            x = np.repeat(case.x[None], len(steps), axis=0)
            x[:, attribute] += sign * steps * scoring.unit[attribute]
            scores = scoring.scores(scoring.log_firing(x))
            strongest = scores[:, rule] >= scores.max(axis=1) - 1e-12 * np.abs(scores).max(axis=1)
            if strongest.any():
                best = min(best, steps[strongest.argmax()])
    return best


@pytest.mark.parametrize("name", SETUPS)
def test_no_smaller_change_is_found_by_scanning(name):
    setup = SETUPS[name]
    found = compared = 0
    for seed in range(4):
        net = setup.network(seed).eval()
        x = np.random.default_rng(seed).normal(size=(4, setup.D))
        explanation = npl.explain(net, x)
        for case in explanation:
            scan = scanned(explanation, case, case.alternative)
            if case.change is None:
                assert np.isinf(scan)
            elif case.change.steps < REACH - 0.1:
                # The grid may step over a stretch narrower than its spacing, never find one that is nearer.
                assert case.change.steps <= scan + 1e-9
                if np.isfinite(scan):
                    compared += 1
                    found += abs(case.change.steps - scan) <= REACH / (POINTS - 1) + 1e-9
    assert compared >= 5
    assert found >= 0.9 * compared


@pytest.mark.parametrize("name", SETUPS)
def test_the_network_itself_agrees_on_both_sides_of_the_change(name):
    setup = SETUPS[name]
    checked = 0
    for seed in range(6):
        net = setup.network(seed).eval()
        explanation = npl.explain(net, np.random.default_rng(seed).normal(size=(20, setup.D)))
        for case in explanation:
            if case.change is None or case.change.steps > 100:
                continue
            i, unit = case.change.attribute, explanation.scoring.unit[case.change.attribute]
            assert case.change.value == case.x[i]
            step = 1e-7 * unit * (1 + case.change.steps) * np.sign(case.change.to - case.change.value)
            x = np.repeat(case.x[None], 2, axis=0)
            x[:, i] = case.change.to - step, case.change.to + step
            scores = explanation.scoring.scores(explanation.scoring.log_firing(x))
            assert scores[0].argmax() != case.alternative
            # At least as strong as any other: a twin rule ties.
            np.testing.assert_allclose(scores[1, case.alternative], scores[1].max(), rtol=1e-13)
            with torch.no_grad():
                firing = net.firing(torch.from_numpy(x)).numpy()
            np.testing.assert_allclose(firing[1, case.alternative], firing[1].max(), rtol=1e-9)
            checked += 1
    assert checked > 30


def test_any_rule_can_be_asked_what_it_would_take():
    setup = Setup(U=8)
    explanation = npl.explain(setup.network(1).eval(), np.random.default_rng(1).normal(size=(5, 4)))
    case = explanation[0]
    assert case.change_for(case.alternative).to == pytest.approx(case.change.to, rel=1e-12)
    for rule in set(range(8)) - {case.strongest}:
        change = case.change_for(rule)
        scan = scanned(explanation, case, rule)
        assert np.isinf(scan) if change is None else change.steps <= scan + 1e-9


def test_a_rule_that_is_dominated_everywhere_has_no_single_change():
    net = npl.NeuroFuzzyNetwork(
        2,
        1,
        2,
        terms=1,
        max_terms=1,
        consequent="constant",
        firing=npl.Firing(layer_norm=False, certainty="log"),
    ).eval()
    with torch.no_grad():
        net.certainty.copy_(torch.tensor([2.0, -2.0]))
    case = npl.explain(net, torch.zeros(1, 2))[0]
    assert case.strongest == 0
    assert case.change is None
    assert "no change of a single attribute" in str(case)


def test_worst_premises_that_are_normalised_are_not_searched_and_the_text_says_so():
    case = npl.explain(Setup(U=5, reduce="worst").network(1).eval(), np.zeros((1, 4)))[0]
    with pytest.raises(npl.ConfigError, match="layer_norm=False"):
        _ = case.change
    assert "is not searched for" in str(case)


def test_a_change_is_measured_in_widths_so_that_units_do_not_matter():
    setup = Setup(U=6)
    net = setup.network(4).eval()
    x = np.random.default_rng(4).normal(size=(30, 4))
    scale = np.array([1e-3, 1.0, 50.0, 1e6])
    plain = npl.explain(net, x)
    scaled = npl.explain(net, x * scale + 7, scaler=(np.full(4, 7.0), scale))
    for one, other in zip(plain.changes, scaled.changes, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            assert one.attribute == other.attribute
            np.testing.assert_allclose(other.steps, one.steps, rtol=1e-6)
            np.testing.assert_allclose(other.to, one.to * scale[one.attribute] + 7, rtol=1e-6)


@pytest.mark.parametrize("layer_norm", [False, True])
def test_narrow_sets_far_apart_end_the_search_with_changes_that_are_true(layer_norm):
    rng = np.random.default_rng(2)
    claimed = 0
    for seed in range(40):
        setup = Setup(
            D=1 + seed % 3, U=2 + seed % 19, layer_norm=layer_norm, certainty=("tanh", "log")[seed % 2]
        )
        net = setup.network(seed).eval()
        shape = tuple(net.centers.shape)
        place(net, 30 * rng.normal(size=shape), 10 ** rng.uniform(-2, 1, size=shape), net.term_mask.numpy())
        explanation = npl.explain(net, 30 * rng.normal(size=(20, setup.D)))
        for case in explanation:
            if case.change is None:
                continue
            x = case.x.copy()
            x[case.change.attribute] = case.change.to
            scores = explanation.scoring.scores(explanation.scoring.log_firing(x[None]))[0]
            tie = 1e-5 if layer_norm else 1e-9 * np.abs(scores).max()
            assert scores[case.alternative] >= scores.max() - tie
            claimed += 1
    assert claimed > 200


def test_a_small_change_is_told_with_as_many_digits_as_it_takes():
    assert moved("p", 136.2, 140.0, missing=False) == "p rose from 136.2 past 140"
    assert moved("p", 136.21, 136.24, missing=False) == "p rose from 136.21 past 136.24"
    assert moved("p", 1.0, 1.0, missing=True) == "p, missing and taken as 1, fell past 1"
