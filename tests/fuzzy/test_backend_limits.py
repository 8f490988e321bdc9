"""What is empty, large, not finite or of another kind: a backend serves it, or refuses it before C reads it."""

import math

import pytest
import torch

import neuroplastic as npl
from neuroplastic.fuzzy.backends import choice
from neuroplastic.fuzzy.backends.interface import Normed
from tests.fuzzy.backend_cases import (
    case,
    close,
    gradients,
    moments,
    moved,
    picture_rows,
    selected,
    shifted_rows,
)


@pytest.mark.parametrize("batch", [0, 1])
def test_no_observation_at_all_is_served_too(at, dtype, batch):
    this = moved(case(3, dtype), at.device)
    x, chosen = this.x[:batch], selected(at.backend, this)
    assert at.backend.distance(x, *chosen[1:]).shape == (batch, this.logits.shape[2])
    counted = at.backend.uncovered(x, this.centers, this.precisions, this.mask, 0.1)
    assert counted.count.le(batch).all()
    assert at.backend.entmax15(x.new_zeros(batch, 5)).shape == (batch, 5)


def test_255_terms_are_told_apart(dtype, at):
    logits = torch.zeros(255, 2, 3, dtype=dtype, device=at.device)
    logits[254, 0, 1] = logits[200, 1, 2] = 1.0
    mask = torch.ones(2, 255, dtype=torch.bool, device=at.device)
    sets = torch.arange(510.0, dtype=dtype, device=at.device).view(2, 255)
    chosen = at.backend.select(logits, None, mask, sets, sets + 1)
    assert chosen.term.tolist() == [[0, 254, 0], [0, 0, 200]]
    assert chosen.center.tolist() == [[0.0, 254.0, 0.0], [255.0, 255.0, 455.0]]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, value) for name in ("logits", "centers") for value in (math.nan, math.inf, -math.inf)),
        *(("precisions", value) for value in (math.nan, math.inf)),  # they are never negative
        ("x", math.nan),  # inputs are bounded before they get here
    ],
)
@pytest.mark.parametrize("seed", range(4))
def test_what_is_not_finite_ends_where_it_ends_with_the_eager_backend(at, dtype, name, value, seed):
    this = case(seed, dtype)
    spoilt = getattr(this, name).flatten()
    spoilt[seed % len(spoilt)] = value
    setattr(this, name, spoilt.view(getattr(this, name).shape))
    chosen, expected = selected(at.backend, moved(this, at.device)), selected(choice.EAGER, this)
    lost = expected.center.isnan() | expected.precision.isnan()
    assert torch.equal(chosen.term.cpu()[~lost], expected.term[~lost])
    for ours, theirs in zip(chosen[1:], expected[1:], strict=True):
        close(ours, theirs, dtype)
    close(
        at.backend.distance(this.x.to(at.device), *chosen[1:]),
        choice.EAGER.distance(this.x, *expected[1:]),
        dtype,
    )
    if name == "x":
        return
    there = moved(this, at.device)
    ours = at.backend.uncovered(there.x, there.centers, there.precisions, there.mask, 0.5)
    theirs = choice.EAGER.uncovered(this.x, this.centers, this.precisions, this.mask, 0.5)
    for mine, other in zip(ours, theirs, strict=True):
        close(mine, other, dtype)
    for rate in (0.0, 2.0):
        found = gradients(at.backend, moved(this, at.device), expected.term.to(at.device), rate)
        wanted = gradients(choice.EAGER, this, expected.term, rate)
        exists = this.mask.t()
        close(found[0].cpu()[exists], wanted[0][exists], dtype)
        for mine, other in zip(found[1:], wanted[1:], strict=True):
            close(mine.cpu()[this.mask], other[this.mask], dtype)


@pytest.mark.parametrize("seed", range(4))
def test_a_nan_fills_its_row_of_firing_levels_and_no_other(at, dtype, seed):
    rows = torch.cat([shifted_rows(seed, dtype)] * 2)
    rows[1, -1] = math.nan
    rows[-1, 0] = -math.inf  # a rule that cannot fire
    rows[-1, -1] = 0.0
    ours = rows.to(at.device).requires_grad_()
    levels = at.backend.entmax15(ours)
    levels.square().sum().backward()
    lost = torch.zeros(len(rows), dtype=torch.bool)
    lost[1] = True
    for tensor in (levels.detach(), ours.grad):
        assert tensor.cpu()[lost].isnan().all()
        assert tensor.cpu()[~lost].isfinite().all()
    assert levels.detach().cpu()[~lost].sum(dim=1).sub(1).abs().max() < 1e-5


WRONG = {
    "a type": lambda tensor: tensor.half(),
    "another type": lambda tensor: tensor.to(
        torch.float32 if tensor.dtype == torch.float64 else torch.float64
    ),
    "a device": lambda tensor: tensor.to("meta"),
    "too few": lambda tensor: tensor[:-1],
    "too many": lambda tensor: torch.cat([tensor, tensor]),
    "dimensions": lambda tensor: tensor.unsqueeze(0),
    "nothing": lambda tensor: tensor[:0],
}


@pytest.mark.skipif(choice.COMPILED is None, reason="the C library was not built")
@pytest.mark.parametrize("wrong", WRONG)
def test_no_tensor_of_another_type_device_or_shape_reaches_c(dtype, wrong):
    backend, this = choice.COMPILED, case(2, dtype, large=True)
    chosen = selected(backend, this)
    rows, weight, bias, upstream = picture_rows(0, dtype, "contiguous")
    normed = backend.norm_relu_drop(rows, weight, bias, 0.0, 1e-5)
    calls = [
        (backend.select, [this.logits, this.noise, this.mask, this.centers, this.precisions], []),
        (backend.distance, [this.x, chosen.center, chosen.precision], []),
        (
            lambda *tensors: backend.gradient(*tensors[:6], tensors[6:], 2.0),
            [this.logits, this.noise, this.mask, chosen.term, this.centers, this.precisions, *moments(this)],
            [],
        ),
        (backend.uncovered, [this.x, this.centers, this.precisions, this.mask], [0.5]),
        (
            lambda gradient, y, kept, center: backend.norm_relu_drop_gradient(
                gradient, Normed(y, *normed[1:4], kept, center), weight
            ),
            [upstream, normed.y, normed.rows, normed.center],
            [],
        ),
    ]
    for function, tensors, rest in calls:
        for place, tensor in enumerate(tensors):
            spoilt = WRONG[wrong](tensor)
            if tensor is this.x and wrong in ("too few", "too many", "nothing"):
                continue  # a batch of another size is none the worse
            with pytest.raises(npl.InputError, match=r"must (be|have)"):
                function(*tensors[:place], spoilt, *tensors[place + 1 :], *rest)


@pytest.mark.skipif(choice.COMPILED is None, reason="the C library was not built")
def test_freed_memory_and_too_many_terms_do_not_reach_c():
    this = case(2, torch.float32)
    freed = this.centers.clone()
    freed.untyped_storage().resize_(0)
    with pytest.raises(npl.InputError, match="storage was freed"):
        choice.COMPILED.select(this.logits, this.noise, this.mask, freed, this.precisions)
    for terms in (0, 256):
        logits, sets = torch.zeros(terms, 2, 3), torch.zeros(2, terms)
        with pytest.raises(npl.InputError, match=f"got {terms}"):
            choice.COMPILED.select(logits, None, sets.bool(), sets, sets)
