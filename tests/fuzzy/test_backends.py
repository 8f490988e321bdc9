"""The contract of the backends: each computes what the eager one does in double precision, and what the oracle says."""

import math
import os
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch.nn import functional

import neuroplastic as npl
from neuroplastic.fuzzy import backends, splitmix
from neuroplastic.fuzzy.backends import choice
from neuroplastic.fuzzy.backends.interface import Draw, Normed
from neuroplastic.fuzzy.firing import entmax, layer_norm
from neuroplastic.fuzzy.log_firing import choose_terms, log_firing
from neuroplastic.fuzzy.membership import precisions_from_widths, raw_from_widths, widths_from_raw
from tests import reference
from tests.random_network import array

# A backend to come takes one line here: itself (None where it is not to be had) and the device it serves.
BACKENDS = {
    "eager": (choice.EAGER, "cpu"),
    "compiled": (choice.COMPILED, "cpu"),
}
if torch.cuda.is_available():
    BACKENDS["eager on a GPU"] = (choice.EAGER, "cuda")
    BACKENDS["triton"] = (choice.triton_backend(), "cuda")
elif os.environ.get("TRITON_INTERPRET") == "1":  # slow: kernels as Python, where there is no GPU
    BACKENDS["triton"] = (choice.triton_backend(), "cpu")
TOLERANCES = {torch.float32: 2e-4, torch.float64: 1e-10}
LAYOUTS = ["contiguous", "transposed", "strided", "negated"]


@pytest.fixture(params=BACKENDS)
def at(request):
    """A backend and the device it computes on."""
    backend, device = BACKENDS[request.param]
    if backend is None:
        pytest.skip(f"the {request.param} backend cannot be used on this machine")
    return SimpleNamespace(backend=backend, device=torch.device(device))


@pytest.fixture(params=TOLERANCES, ids=str)
def dtype(request):
    return request.param


def laid(tensor, layout):
    """The same values, in another arrangement of memory."""
    if layout == "transposed":
        order = list(reversed(range(tensor.dim())))
        return tensor.permute(order).contiguous().permute(order)
    if layout == "strided":
        return torch.stack([tensor, tensor], -1)[..., 0]
    if layout == "negated" and tensor.is_floating_point():
        return torch._neg_view(-tensor)
    return tensor


def case(seed, dtype, layout="contiguous", large=False):
    """Random sets, logits, noise, observations and gradients of log-firing, of random sizes."""
    rng = np.random.default_rng(seed)
    most = (70, 140, 9, 150) if large else (6, 5, 4, 7)
    B, D, T, U = (int(rng.integers(1, size + 1)) for size in most)
    mask = rng.random((D, T)) < 0.6
    mask[np.arange(D), rng.integers(T, size=D)] = True
    logits = rng.normal(size=(T, D, U)).round(1)  # rounded, so that there are ties
    noise = None if seed % 2 else rng.gumbel(size=(T, D, U))
    numbers = {
        "x": rng.normal(size=(B, D)),
        "logits": logits,
        "noise": noise,
        "mask": mask,
        "centers": rng.normal(size=(D, T)),
        "precisions": rng.uniform(0.1, 3.0, size=(D, T)),
        "upstream": rng.normal(size=(B, U)),
    }
    tensors = {}
    for name, drawn in numbers.items():
        tensor = None if drawn is None else torch.tensor(drawn)
        if tensor is not None and tensor.is_floating_point():
            tensor = tensor.to(dtype)
        tensors[name] = tensor if tensor is None else laid(tensor, layout)
    return SimpleNamespace(**tensors)


def plain(tensor):
    """The same values in double precision, in one piece of memory."""
    return tensor.double().clone(memory_format=torch.contiguous_format).resolve_neg()


def doubled(this):
    """The same numbers in double precision, plainly laid."""
    return SimpleNamespace(
        **{
            name: plain(tensor) if tensor is not None and tensor.is_floating_point() else tensor
            for name, tensor in vars(this).items()
        }
    )


def moved(this, device):
    """The same on another device."""
    return SimpleNamespace(
        **{name: None if tensor is None else tensor.to(device) for name, tensor in vars(this).items()}
    )


def close(found, expected, dtype):
    """Whether two results agree to what the type can hold, measured by the greatest number."""
    finite = expected[expected.isfinite()]
    scale = float(finite.abs().max()) if finite.numel() else 1.0
    torch.testing.assert_close(
        found.cpu().double(),
        expected.double(),
        rtol=TOLERANCES[dtype],
        atol=TOLERANCES[dtype] * max(scale, 1e-3),
        equal_nan=True,
    )


def arrays(this, *names):
    return [array(getattr(this, name)) for name in names]


def widths(this):
    return np.sqrt(0.5 / array(this.precisions))


def scores(this):
    logits = array(this.logits)
    return logits if this.noise is None else logits + array(this.noise)


def selected(backend, this):
    return backend.select(this.logits, this.noise, this.mask, this.centers, this.precisions)


def moments(this):
    return this.upstream.sum(0), this.x.t() @ this.upstream, this.x.square().t() @ this.upstream


def gradients(backend, this, term, rate):
    sets = this.centers, this.precisions
    return backend.gradient(this.logits, this.noise, this.mask, term, *sets, moments(this), rate)


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


def shifted_rows(seed, dtype, spread=3.0):
    rng = np.random.default_rng(seed)
    rows = torch.tensor(rng.normal(size=(int(rng.integers(1, 9)), int(rng.integers(1, 200)))) * spread)
    return (rows - rows.amax(dim=1, keepdim=True)).to(dtype)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("seed", range(5))
def test_entmax_is_the_oracles_in_value_and_the_eager_ones_in_gradient(at, dtype, layout, seed):
    rows = laid(shifted_rows(seed, dtype), layout)
    ours = rows.detach().to(at.device).requires_grad_()
    theirs = plain(rows).requires_grad_()
    levels, expected = at.backend.entmax15(ours), choice.EAGER.entmax15(theirs)
    close(levels.detach(), torch.tensor(reference.entmax(array(plain(rows)), 1.5)), dtype)
    upstream = torch.tensor(np.random.default_rng(seed).normal(size=tuple(rows.shape)))
    (levels * upstream.to(levels)).sum().backward()
    (expected * upstream).sum().backward()
    close(ours.grad, theirs.grad, dtype)


@pytest.mark.parametrize("shape", [(1,), (3, 5), (0, 4), (40000,)], ids=str)
@pytest.mark.parametrize("seed", [0, 1, 2**63 + 5, 2**64 - 1, -1])
def test_random_numbers_are_a_function_of_seed_and_position(at, shape, seed):
    found = at.backend.uniform(seed, shape, at.device)
    assert found.dtype == torch.float32
    assert tuple(found.shape) == shape
    flat = found.flatten().tolist()
    for position in range(0, len(flat), max(1, len(flat) // 97)):
        assert flat[position] == ((splitmix.mix(seed % 2**64, position) >> 41) + 0.5) / 2**23


def picture_rows(seed, dtype, layout):
    rng = np.random.default_rng(seed)
    channels = int(rng.integers(1, 9))
    shape = int(rng.integers(2, 60)), channels * int(rng.integers(1, 40))
    draw = [rng.normal(5.0, 3.0, size=shape), rng.normal(size=channels), rng.normal(size=channels)]
    upstream = rng.normal(size=shape)
    return [laid(torch.tensor(drawn).to(dtype), layout) for drawn in (*draw, upstream)]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dropout", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(4))
def test_norm_relu_and_dropout_are_pytorchs_where_units_are_kept(at, dtype, layout, dropout, seed):
    rows, weight, bias, upstream = picture_rows(seed, dtype, layout)
    there = [tensor.to(at.device) for tensor in (rows, weight, bias, upstream)]
    normed = at.backend.norm_relu_drop(*there[:3], dropout, 1e-5)
    found = at.backend.norm_relu_drop_gradient(there[3], normed, there[1])
    leaves = [plain(tensor).requires_grad_() for tensor in (rows, weight, bias)]
    flat = leaves[0].view(-1, len(weight))
    kept = torch.ones_like(rows.double()) if not dropout else (normed.y.cpu() > 0).double()
    y = functional.batch_norm(flat, None, None, *leaves[1:], training=True).relu().view(rows.shape) * kept
    (y * upstream.double()).sum().backward()
    close(normed.y, y.detach(), dtype)
    close(normed.mean, flat.detach().mean(dim=0), dtype)
    close(normed.variance, flat.detach().var(dim=0, unbiased=False), dtype)
    close(normed.scale, (flat.detach().var(dim=0, unbiased=False) + 1e-5).rsqrt(), dtype)
    for ours, theirs in zip(found, leaves, strict=True):
        close(ours, theirs.grad, dtype)


def test_dropout_drops_the_share_it_is_told_to(at, dtype):
    torch.manual_seed(0)
    rows = torch.randn(400, 320, dtype=dtype, device=at.device)
    normed = at.backend.norm_relu_drop(rows, rows.new_ones(8), rows.new_full((8,), 50.0), 0.25, 1e-5)
    assert float((normed.y == 0).double().mean()) == pytest.approx(0.25, abs=5e-3)


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
