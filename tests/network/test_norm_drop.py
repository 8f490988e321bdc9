import copy

import pytest
import torch
from torch import nn

from neuroplastic.fuzzy import backends
from neuroplastic.network.norm_drop import norm_relu_drop


@pytest.fixture(params=["kernel", "no kernel"], autouse=True)
def _with_and_without_kernel(request):
    if request.param == "kernel":
        if not backends.compiled_available():
            pytest.skip("the kernel was not built")
        yield
    else:
        with backends.eager_only():
            yield


def trained_norm(channels: int, dtype: torch.dtype = torch.float64) -> nn.BatchNorm2d:
    torch.manual_seed(0)
    norm = nn.BatchNorm2d(channels, dtype=dtype)
    with torch.no_grad():
        norm.weight.uniform_(-1.5, 1.5)
        norm.bias.uniform_(-1, 1)
    return norm


def pictures(shape: tuple[int, ...], layout: str, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    torch.manual_seed(1)
    x = (torch.randn(shape, dtype=dtype) * 3 + 5).contiguous()
    if layout == "channels last":
        x = x.contiguous(memory_format=torch.channels_last)
    return x.requires_grad_()


@pytest.mark.parametrize("layout", ["contiguous", "channels last"])
@pytest.mark.parametrize("shape", [(5, 3, 4, 7), (1, 8, 2, 3), (4, 1, 5, 5)])
def test_without_dropout_it_is_batch_norm_and_relu_in_value_gradient_and_statistics(shape, layout):
    ours, theirs = trained_norm(shape[1]), trained_norm(shape[1])
    x, same = pictures(shape, layout), pictures(shape, layout)
    upstream = torch.randn(shape, dtype=torch.float64)
    for _ in range(2):
        y, expected = norm_relu_drop(x, ours, 0.0), theirs(same).relu()
        torch.testing.assert_close(y, expected)
    (y * upstream).sum().backward()
    (expected * upstream).sum().backward()
    torch.testing.assert_close(x.grad, same.grad)
    for mine, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(mine.grad, other.grad)
    for mine, other in zip(ours.buffers(), theirs.buffers(), strict=True):
        torch.testing.assert_close(mine, other)


def test_gradients_pass_exactly_where_units_were_kept():
    norm = trained_norm(4)
    x = pictures((6, 4, 9, 8), "channels last")
    y = norm_relu_drop(x, norm, 0.3)
    mask = (y > 0).double()
    same, other = pictures((6, 4, 9, 8), "channels last"), trained_norm(4)
    expected = other(same).relu() * mask / 0.7
    torch.testing.assert_close(y, expected)
    upstream = torch.randn(y.shape, dtype=torch.float64)
    (y * upstream).sum().backward()
    (expected * upstream).sum().backward()
    torch.testing.assert_close(x.grad, same.grad)
    torch.testing.assert_close(norm.weight.grad, other.weight.grad)
    torch.testing.assert_close(norm.bias.grad, other.bias.grad)


def test_statistics_are_exact_for_values_far_from_zero():
    """Two passes over the values: no cancellation of large squares."""
    x = (torch.randn(8, 8, 21, 21) * 0.01 + 100).contiguous(memory_format=torch.channels_last)
    norm = nn.BatchNorm2d(8, momentum=1.0)
    norm_relu_drop(x, norm, 0.0)
    exact = x.double().var(dim=(0, 2, 3))
    torch.testing.assert_close(norm.running_var.double(), exact, rtol=1e-3, atol=0)


def all_positive(shape: tuple[int, ...], dropout: float) -> torch.Tensor:
    """What is left of units that ReLU would all pass."""
    norm = nn.BatchNorm2d(shape[1])
    norm.bias.data.fill_(100.0)
    return norm_relu_drop(torch.randn(shape), norm, dropout)


@pytest.mark.parametrize("dropout", [0.05, 0.2, 0.5, 0.9])
def test_units_are_dropped_with_the_probability_and_the_mean_is_kept(dropout):
    torch.manual_seed(0)
    y = all_positive((40, 8, 33, 31), dropout)
    assert (y == 0).double().mean().item() == pytest.approx(dropout, abs=4e-3)
    assert y.double().mean().item() == pytest.approx(100, rel=0.03)


def test_neighbouring_units_are_dropped_independently():
    torch.manual_seed(0)
    dropped = (all_positive((100, 4, 33, 31), 0.3) == 0).permute(0, 2, 3, 1).reshape(-1, 4).double()
    together = dropped.t() @ dropped / len(dropped)
    expected = torch.full((4, 4), 0.09, dtype=torch.float64).fill_diagonal_(0.3)
    torch.testing.assert_close(together, expected, atol=6e-3, rtol=0)


def test_what_is_dropped_is_a_function_of_the_seed():
    x, norm = pictures((3, 4, 5, 6), "contiguous"), trained_norm(4)
    results = []
    for seed in (3, 3, 4):
        torch.manual_seed(seed)
        results.append(norm_relu_drop(x, copy.deepcopy(norm), 0.4))
    assert torch.equal(results[0], results[1])
    assert not torch.equal(results[0], results[2])


def test_one_value_per_channel_is_refused_and_no_value_leaves_the_statistics_alone():
    norm = nn.BatchNorm2d(3)
    with pytest.raises(ValueError, match="more than 1 value per channel"):
        norm_relu_drop(torch.zeros(1, 3, 1, 1), norm, 0.2)
    assert norm_relu_drop(torch.zeros(0, 3, 4, 5), norm, 0.2).shape == (0, 3, 4, 5)
    assert norm.running_mean.isfinite().all()


def test_a_gradient_of_the_gradient_is_refused_instead_of_being_wrong():
    x = pictures((2, 3, 4, 5), "contiguous")
    (slope,) = torch.autograd.grad(
        norm_relu_drop(x, trained_norm(3), 0.0).square().sum(), x, create_graph=True
    )
    with pytest.raises(RuntimeError, match="cannot be differentiated again"):
        slope.sum().backward()


def test_not_a_number_stays_one_instead_of_being_cut_off_by_relu():
    x = torch.randn(2, 3, 4, 5)
    x[0, 1, 2, 3] = torch.nan
    y = norm_relu_drop(x, nn.BatchNorm2d(3), 0.0)
    assert y[:, 1].isnan().all()  # its channel's mean is none either
    assert y[:, [0, 2]].isfinite().all()
