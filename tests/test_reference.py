"""The oracle itself: hand-computed cases, and agreement with the straightforward PyTorch version."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from tests import reference, straightforward


def random_case(seed, B=5, D=4, T=3, U=6):
    """Random inputs, sets, logits, noise and a mask that leaves every attribute at least its first term."""
    rng = np.random.default_rng(seed)
    mask = rng.random((D, T)) < 0.6
    mask[:, 0] = True
    return {
        "x": rng.normal(size=(B, D)),
        "centers": rng.normal(size=(D, T)),
        "widths": rng.uniform(0.3, 2.0, size=(D, T)),
        "logits": rng.normal(size=(T, D, U)),
        "noise": rng.gumbel(size=(T, D, U)),
        "mask": mask,
    }


def test_membership_one_width_from_the_centre_is_exp_of_minus_half():
    log_mu = reference.log_memberships(np.array([[3.0]]), np.array([[1.0, 3.0]]), np.array([[2.0, 0.5]]))
    assert log_mu.tolist() == [[[-0.5, 0.0]]]


def test_percentile_interpolates_linearly_like_numpy():
    values = [4.0, 1.0, 2.5, 9.0]
    for theta in (0.0, 10.0, 25.0, 50.0, 90.0, 100.0):
        assert reference.percentile(values, theta) == pytest.approx(np.percentile(values, theta), rel=1e-14)


def test_constraint_takes_out_the_rarely_active_term_and_ignores_missing_ones():
    log_mu = np.log(np.array([[[0.9, 0.1, 0.5, 0.01]]]))
    mask = np.array([[True, True, True, False]])
    assert reference.constrained_mask(log_mu, mask, 50.0).tolist() == [[True, False, True, False]]
    assert reference.constrained_mask(log_mu, mask, 0.0).tolist() == mask.tolist()


def test_selection_takes_the_highest_existing_term_and_the_lowest_of_ties():
    scores = np.array([1.0, 5.0, 5.0, 9.0]).reshape(4, 1, 1)
    assert reference.selected_terms(scores, np.array([[True, True, True, False]])).tolist() == [[1]]
    assert reference.selected_terms(scores, np.array([[True, False, True, False]])).tolist() == [[2]]


def test_log_firing_adds_or_averages_the_chosen_log_memberships():
    log_mu = np.array([[[-1.0, -2.0], [-3.0, -5.0]]])
    terms = np.array([[0, 1], [1, 0]])
    assert reference.log_firing(log_mu, terms, "sum").tolist() == [[-6.0, -5.0]]
    assert reference.log_firing(log_mu, terms, "mean").tolist() == [[-3.0, -2.5]]


def test_the_worst_premise_is_a_minimum_and_softer_with_a_smaller_power():
    log_mu = np.array([[[-3.0], [-4.0]]])
    terms = np.array([[0, 0]])
    for power, expected in ((math.inf, -8.0), (2.0, -10.0), (1.0, -14.0)):
        assert reference.log_firing(log_mu, terms, "worst", 2.0, power)[0, 0] == pytest.approx(
            expected, rel=1e-14
        )
    scaled = reference.log_firing(log_mu, terms, "scaled", 2.0)[0, 0]
    assert scaled == pytest.approx(-14.0 / math.sqrt(2.0), rel=1e-14)


def test_balance_is_nothing_where_rules_share_the_work_and_log_of_their_number_where_one_does_it():
    shared, alone = np.eye(3), np.array([[0.0, 1.0, 0.0]] * 3)
    assert reference.balance_penalty(shared) == pytest.approx(0.0, abs=1e-15)
    assert reference.balance_penalty(alone) == pytest.approx(math.log(3.0), rel=1e-15)


def test_layer_norm_of_two_rules_is_plus_and_minus_one_before_the_affine_map():
    normed = reference.layer_norm(
        np.array([[-4.0, -2.0]]), np.array([2.0, 3.0]), np.array([0.5, 0.0]), eps=0.0
    )
    np.testing.assert_allclose(normed, [[-1.5, 3.0]], rtol=1e-14)


def test_certainty_of_zero_halves_the_firing_in_log_form_and_erases_it_in_tanh_form():
    w, raw = np.array([[-2.0]]), np.array([0.0])
    assert reference.certain(w, raw, "log")[0, 0] == pytest.approx(-2.0 + math.log(0.5), rel=1e-15)
    assert reference.certain(w, raw, "tanh")[0, 0] == 0.0


def test_entmax_is_softmax_at_one_and_sparsemax_at_two():
    w = np.array([[0.0, 0.5, -3.0]])
    softmax = np.exp(w) / np.exp(w).sum()
    np.testing.assert_allclose(reference.entmax(w, 1.0), softmax, rtol=1e-13)
    np.testing.assert_allclose(reference.entmax(w, 2.0), [[0.25, 0.75, 0.0]], atol=1e-14)


def test_entmax_of_one_and_a_half_solves_the_quadratic_of_two_rules():
    # p = (z/2 - tau)^2 with z = (0, -1): (-tau)^2 + (-1/2 - tau)^2 = 1 gives tau = (-1 - sqrt(7)) / 4.
    tau = (-1.0 - math.sqrt(7.0)) / 4.0
    expected = [[tau**2, (-0.5 - tau) ** 2]]
    np.testing.assert_allclose(reference.entmax(np.array([[0.0, -1.0]]), 1.5), expected, atol=1e-14)


@pytest.mark.parametrize("alpha", [1.0, 1.0001, 1.01, 1.25, 1.5, 1.9, 2.0])
def test_entmax_sums_to_one_at_every_alpha_and_meets_its_optimality_condition(alpha):
    w = np.random.default_rng(0).normal(size=(4, 20)) * 2.0
    p = reference.entmax(w, alpha)
    np.testing.assert_allclose(p.sum(1), 1.0, atol=1e-12)
    for row, z in zip(p, w, strict=True):
        on = row > 1e-6
        # Where p > 0, w - (p^(alpha-1) - 1) / (alpha-1) is the same number for every rule.
        bent = np.log(row[on]) if alpha == 1.0 else np.expm1((alpha - 1.0) * np.log(row[on])) / (alpha - 1.0)
        np.testing.assert_allclose(z[on] - bent, (z[on] - bent)[0], atol=1e-9)


def test_merged_statistics_equal_numpy_over_everything_seen():
    rng = np.random.default_rng(1)
    batches = [rng.normal(50.0, 2.0, size=n) for n in (1, 4, 0, 7)]
    state = (0, 0.0, 0.0)
    for batch in batches:
        state = reference.welford_merge(*state, batch)
    everything = np.concatenate(batches)
    assert state[0] == 12
    np.testing.assert_allclose([state[1], state[2] / 12], [everything.mean(), everything.var()], rtol=1e-13)


def test_epsilon_completeness_fails_only_where_every_existing_term_is_weak():
    x = np.array([[0.0], [2.0]])
    centers, widths = np.array([[0.0, 2.0]]), np.ones((1, 2))
    only_first = np.array([[True, False]])
    assert reference.incomplete(x, centers, widths, only_first, 0.3).tolist() == [[False], [True]]
    assert not reference.incomplete(x, centers, widths, np.ones((1, 2), bool), 0.3).any()


def test_centre_of_area_weighs_wide_conclusions_more_and_height_does_not():
    firing, conclusions = np.array([[0.5, 0.5]]), np.array([[0], [1]])
    centers, widths = np.array([[-1.0, 1.0]]), np.array([[1.0, 3.0]])
    assert reference.mamdani_height(firing, conclusions, centers).tolist() == [[0.0]]
    assert reference.mamdani_area(firing, conclusions, centers, widths).tolist() == [[0.5]]


def test_consequents_of_one_rule_by_hand():
    x, weight, bias = np.array([[2.0, 3.0]]), np.array([[[1.0, 10.0]]]), np.array([[0.5]])
    assert reference.affine_decisions(x, weight, bias).tolist() == [[[32.5]]]
    assert reference.constant_decisions(x, bias).tolist() == [[[0.5]]]
    projection = np.array([[1.0], [-1.0]])
    assert reference.low_rank_decisions(x, projection, np.array([[[4.0]]]), bias).tolist() == [[[-3.5]]]


@pytest.mark.parametrize("estimator", ["ste", "stge"])
@pytest.mark.parametrize("reduce", ["sum", "mean", "scaled", "worst"])
@pytest.mark.parametrize("power", [2.5, math.inf])
def test_oracle_and_straightforward_version_agree_in_value_and_gradient(estimator, reduce, power):
    case = random_case(2)
    if estimator == "ste":
        case["noise"] = np.zeros_like(case["noise"])
    tensors = {name: torch.tensor(value) for name, value in case.items()}
    leaves = {name: tensors[name].requires_grad_() for name in ("logits", "centers", "widths", "x")}
    leaves["log_gain"] = torch.tensor(0.4, dtype=torch.float64, requires_grad=True)
    form = {"reduce": reduce, "power": power}
    w = straightforward.log_firing(
        **tensors, estimator=estimator, temperature=0.7, gain=leaves["log_gain"].exp(), **form
    )
    if reduce in ("sum", "mean"):
        del leaves["log_gain"]
    form["gain"] = math.exp(0.4)
    upstream = np.random.default_rng(3).normal(size=tuple(w.shape))
    grads = torch.autograd.grad((w * torch.tensor(upstream)).sum(), list(leaves.values()))

    log_mu = reference.log_memberships(case["x"], case["centers"], case["widths"])
    terms = reference.selected_terms(case["logits"] + case["noise"], case["mask"])
    np.testing.assert_allclose(w.detach().numpy(), reference.log_firing(log_mu, terms, **form), rtol=1e-12)
    expected = reference.log_firing_gradients(
        **case, upstream=upstream, estimator=estimator, temperature=0.7, **form
    )
    for name, grad in zip(leaves, grads, strict=True):
        np.testing.assert_allclose(grad.numpy(), expected[name], rtol=1e-10, atol=1e-12, err_msg=name)


def test_oracle_and_straightforward_version_agree_on_everything_after_log_firing():
    rng = np.random.default_rng(4)
    w, kappa, beta, raw = rng.normal(size=(3, 5)), rng.normal(size=5), rng.normal(size=5), rng.normal(size=5)
    weight, bias, x = rng.normal(size=(5, 2, 4)), rng.normal(size=(5, 2)), rng.normal(size=(3, 4))
    normed = straightforward.layer_norm(torch.tensor(w), torch.tensor(kappa), torch.tensor(beta))
    np.testing.assert_allclose(reference.layer_norm(w, kappa, beta), normed.numpy(), rtol=1e-12)
    for form in ("log", "tanh"):
        expected = straightforward.certain(torch.tensor(w), torch.tensor(raw), form).numpy()
        np.testing.assert_allclose(reference.certain(w, raw, form), expected, rtol=1e-12)
    firing = F.softmax(torch.tensor(w), dim=-1)
    decisions = reference.affine_decisions(x, weight, bias)
    expected = straightforward.affine_output(firing, *map(torch.tensor, (x, weight, bias)))
    np.testing.assert_allclose(reference.firing_weighted_sum(firing.numpy(), decisions), expected, rtol=1e-12)

    centers, widths = rng.normal(size=(2, 3)), rng.uniform(0.5, 2.0, size=(2, 3))
    conclusions = rng.integers(3, size=(5, 2))
    one_hot = F.one_hot(torch.tensor(conclusions), 3).permute(2, 1, 0).double()
    sets = torch.tensor(centers), torch.tensor(widths)
    height = straightforward.mamdani_output(firing, one_hot, *sets, "height")
    area = straightforward.mamdani_output(firing, one_hot, *sets, "area")
    np.testing.assert_allclose(
        reference.mamdani_height(firing.numpy(), conclusions, centers), height, rtol=1e-12
    )
    np.testing.assert_allclose(
        reference.mamdani_area(firing.numpy(), conclusions, centers, widths), area, rtol=1e-12
    )


@pytest.mark.parametrize("theta", [10.0, 50.0, 80.0])
def test_both_references_constrain_alike(theta):
    case = random_case(5, D=8, T=5)
    sets = case["x"], case["centers"], case["widths"]
    expected = reference.constrained_mask(reference.log_memberships(*sets), case["mask"], theta)
    tensors = [torch.tensor(value) for value in (*sets, case["mask"])]
    assert straightforward.constrained_mask(*tensors, theta).numpy().tolist() == expected.tolist()
