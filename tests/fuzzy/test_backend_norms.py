"""Normalisers, random numbers and dropout of the backends: what the oracle and PyTorch say."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from neuroplastic.fuzzy import splitmix
from neuroplastic.fuzzy.backends import choice
from tests import reference
from tests.fuzzy.backend_cases import LAYOUTS, close, laid, picture_rows, plain, shifted_rows
from tests.random_network import array


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
