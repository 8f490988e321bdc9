"""The contract of the backends: each computes what the eager one does in double precision, and what the oracle says."""

import math

import numpy as np
import pytest
import torch

from neuroplastic.fuzzy import backends
from neuroplastic.fuzzy.backends import choice
from neuroplastic.fuzzy.backends.interface import Draw
from neuroplastic.fuzzy.firing import entmax, layer_norm
from neuroplastic.fuzzy.log_firing import choose_terms, log_firing
from neuroplastic.fuzzy.membership import precisions_from_widths, raw_from_widths, widths_from_raw
from tests import reference
from tests.fuzzy.backend_cases import (
    LAYOUTS,
    TOLERANCES,
    arrays,
    case,
    close,
    doubled,
    gradients,
    laid,
    moved,
    plain,
    scores,
    selected,
    widths,
)
from tests.random_network import array


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("seed", range(6))
def test_the_existing_term_of_greatest_score_is_selected(at, dtype, layout, seed):
    for large in (False, True):
        this = case(seed, dtype, layout, large)
        chosen = selected(at.backend, moved(this, at.device))
        for found, expected in zip(chosen, selected(choice.EAGER, this), strict=True):
            assert torch.equal(found.cpu(), expected)
            assert found.device.type == at.device.type
    if dtype == torch.float64:  # in single precision, logit plus noise may round to a tie
        this = case(seed, dtype)
        expected = reference.selected_terms(scores(this), array(this.mask))
        assert selected(at.backend, moved(this, at.device)).term.t().tolist() == expected.tolist()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("seed", range(6))
def test_log_firing_is_the_weighted_squared_distance(at, dtype, layout, seed):
    for large in (False, True):
        this = case(seed, dtype, "contiguous", large)
        _, center, precision = (laid(part, layout) for part in selected(choice.EAGER, this))
        x = laid(this.x, layout)
        found = at.backend.distance(*(tensor.to(at.device) for tensor in (x, center, precision)))
        assert found.dtype == dtype
        expected = choice.EAGER.distance(*(plain(tensor) for tensor in (x, center, precision)))
        close(found, expected, dtype)
    this = case(seed, dtype)
    chosen = selected(choice.EAGER, this)
    log_mu = reference.log_memberships(*arrays(this, "x", "centers"), widths(this))
    expected = torch.tensor(reference.log_firing(log_mu, array(chosen.term.t().long())))
    close(at.backend.distance(*(t.to(at.device) for t in (this.x, *chosen[1:]))), expected, dtype)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("rate", [0.0, 2.0])
@pytest.mark.parametrize("seed", range(4))
def test_gradients_pass_straight_through_the_choice(at, dtype, layout, rate, seed):
    for large in (False, True):
        this = case(seed, dtype, layout, large)
        term = selected(choice.EAGER, this).term
        found = gradients(at.backend, moved(this, at.device), laid(term, layout).to(at.device), rate)
        expected = gradients(choice.EAGER, doubled(this), term, rate)
        for ours, theirs in zip(found, expected, strict=True):
            assert ours.dtype == dtype
            close(ours, theirs, dtype)
        assert not found[0].cpu()[~this.mask.t()].any()


@pytest.mark.parametrize("rate", [0.0, 2.0])
@pytest.mark.parametrize("seed", range(4))
def test_gradients_are_those_of_the_oracle(at, rate, seed):
    this = case(seed, torch.float64)
    noise = np.zeros(this.logits.shape) if this.noise is None else array(this.noise)
    expected = reference.log_firing_gradients(
        *arrays(this, "x", "centers"),
        widths(this),
        array(this.logits),
        noise,
        array(this.mask),
        array(this.upstream),
        "stge" if rate else "ste",
        rate**-0.5 if rate else 1.0,
    )
    there = moved(this, at.device)
    of_logits, of_centers, of_precisions = gradients(
        at.backend, there, selected(at.backend, there).term, rate
    )
    close(of_logits, torch.tensor(expected["logits"]), torch.float64)
    close(of_centers, torch.tensor(expected["centers"]), torch.float64)
    of_widths = of_precisions.cpu() * -(torch.tensor(widths(this)) ** -3.0)
    close(of_widths, torch.tensor(expected["widths"]), torch.float64)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("seed", range(4))
def test_uncovered_values_are_counted_with_mean_and_deviation(at, dtype, layout, seed):
    epsilon = 0.6
    for large in (False, True):
        this = case(seed, dtype, layout, large)
        there = moved(this, at.device)
        sets = there.centers, there.precisions, there.mask
        found = at.backend.uncovered(there.x, *sets, -math.log(epsilon))
        same = doubled(this)
        expected = choice.EAGER.uncovered(
            same.x, same.centers, same.precisions, same.mask, -math.log(epsilon)
        )
        for ours, theirs in zip(found, expected, strict=True):
            close(ours, theirs, dtype)
    this = case(seed, dtype)
    fails = reference.incomplete(*arrays(this, "x", "centers"), widths(this), array(this.mask), epsilon)
    there = moved(this, at.device)
    found = at.backend.uncovered(there.x, there.centers, there.precisions, there.mask, -math.log(epsilon))
    for column in range(this.x.shape[1]):
        values = array(this.x[:, column])[fails[:, column]]
        expected = reference.welford_merge(0, 0.0, 0.0, values)
        reached = [float(moment[column]) for moment in found]
        np.testing.assert_allclose(reached, expected, atol=TOLERANCES[dtype])


def fused_case(seed, narrow):
    """As `case`, in single precision, with raw widths and a draw of noise; narrow sets far from zero, if wanted."""
    this = case(seed, torch.float32, large=True)
    generator = torch.Generator().manual_seed(seed)
    this.raw_widths = torch.randn(this.centers.shape, generator=generator)
    if narrow:
        this.raw_widths = raw_from_widths(torch.full(this.centers.shape, 0.01))
        this.centers = 100 + torch.rand(this.centers.shape, generator=generator)
        near = this.centers[:, 0] + 0.02 * torch.randn(this.x.shape, generator=generator)
        this.x = near if seed % 2 else 100 + torch.rand(this.x.shape, generator=generator)
    this.seed, this.number = torch.tensor([2**61 + seed]), torch.tensor(3)
    return this


@pytest.mark.parametrize("narrow", [False, True], ids=["wide", "narrow and far from zero"])
@pytest.mark.parametrize("rate", [0.0, 2.0])
@pytest.mark.parametrize("seed", range(4))
def test_log_firing_in_one_step_is_that_of_the_steps_one_by_one(at, seed, rate, narrow):
    this = fused_case(seed, narrow)
    names = ("x", "centers", "raw_widths", "logits")
    there = moved(this, at.device)
    leaves = [getattr(there, name).clone().requires_grad_() for name in names]
    draw = Draw(there.seed, there.number, 0.7, 0.1) if rate else None
    found = at.backend.fire(*leaves, there.mask, draw, rate)
    if found is None:
        return  # this backend has no such step
    found.backward(there.upstream)
    x, centers, raw_widths, logits = expected = [
        plain(getattr(this, name)).requires_grad_() for name in names
    ]
    shape = tuple(logits.shape)
    noise = choice.EAGER.gumbel(this.seed, this.number, 0.7, 0.1, shape, torch.float64) if rate else None
    precisions = precisions_from_widths(widths_from_raw(raw_widths))
    with backends.eager_only():
        sets = centers.detach(), precisions.detach()
        chosen = choose_terms(logits, noise, this.mask, *sets)
        wanted = log_firing(x, centers, precisions, logits, noise, this.mask, chosen, rate=rate)
    wanted.backward(this.upstream.double())
    torch.testing.assert_close(found.detach().cpu().double(), wanted.detach(), rtol=1e-4, atol=1e-4)
    for ours, theirs in zip(leaves, expected, strict=True):
        close(ours.grad, theirs.grad, torch.float32)


@pytest.mark.parametrize("far", [0.0, -1e6])
@pytest.mark.parametrize("seed", range(3))
def test_layer_norm_and_entmax_in_one_step_are_those_of_the_steps_one_by_one(at, seed, far):
    rng = np.random.default_rng(seed)
    B, U = int(rng.integers(1, 70)), int(rng.integers(2, 300))
    numbers = [rng.normal(size=(B, U)) * 50 + far, rng.uniform(0.5, 1.5, size=U), rng.normal(size=U) * 0.1]
    upstream = torch.tensor(rng.normal(size=(B, U)))
    given = [torch.tensor(each).float() for each in numbers]
    leaves = [each.clone().to(at.device).requires_grad_() for each in given]
    found = at.backend.norm_entmax15(*leaves, 0.5, 1e-5)
    if found is None:
        return  # this backend has no such step
    found.backward(upstream.to(found))
    expected = [plain(each).requires_grad_() for each in given]
    wanted = entmax(layer_norm(expected[0] * 0.5, *expected[1:]), 1.5)
    wanted.backward(upstream)
    close(found.detach(), wanted.detach(), torch.float32)
    for ours, theirs in zip(leaves, expected, strict=True):
        close(ours.grad, theirs.grad, torch.float32)
