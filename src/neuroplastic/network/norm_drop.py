"""Batch norm, ReLU and dropout of a training pass in one step, for convolutions with few channels."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from ..fuzzy import kernel
from .passes import recomputing


def norm_relu_drop(x: Tensor, norm: nn.BatchNorm2d, dropout: float) -> Tensor:
    """`dropout(relu(norm(x)))` in training mode, (B, C, H, W); `norm` updates its running statistics.

    A pass that gradient checkpointing computes again leaves the statistics alone.

    The result is that of PyTorch's own layers, but on a CPU those take longer than the paper's small convolutions:
    batch norm runs over 8 channels at a time, and dropout draws its Bernoulli numbers one by one. Here the
    arithmetic runs over whole rows of pixels, and a 64-bit draw makes the mask of four units: the probability is
    rounded to a multiple of 1 / 65536.
    """
    count = x.numel() // x.shape[1]
    if x.device.type != "cpu" or count < 2:  # a channel of one value has no variance: PyTorch says so
        normed = _normed_again(x, norm) if recomputing() else norm(x)
        return functional.dropout(functional.relu(normed), dropout, training=True)
    assert norm.momentum is not None
    assert norm.num_batches_tracked is not None
    assert norm.running_mean is not None
    assert norm.running_var is not None
    kept = 1 - dropout
    y: Tensor
    # Dropout's scale goes into the affine part: a positive factor passes through ReLU.
    function = _FusedNormReluDrop if kernel.serves(x) else _NormReluDrop
    y, mean, variance = function.apply(x, norm.weight / kept, norm.bias / kept, dropout, norm.eps)  # type: ignore[no-untyped-call]
    if recomputing():
        return y
    with torch.no_grad():
        norm.num_batches_tracked.add_(1)
        norm.running_mean.lerp_(mean, norm.momentum)
        norm.running_var.lerp_(variance * (count / (count - 1)), norm.momentum)
    return y


def _normed_again(x: Tensor, norm: nn.BatchNorm2d) -> Tensor:
    """`norm(x)` in training mode without counting it."""
    return functional.batch_norm(x, None, None, norm.weight, norm.bias, training=True, eps=norm.eps)


class _NormReluDrop(torch.autograd.Function):
    """`relu(weight * (x - mean) / sqrt(variance + eps) + bias) * keep`, and mean and variance per channel."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, dropout: float, eps: float
    ) -> tuple[Tensor, Tensor, Tensor]:
        rows, width = _rows(x), x.shape[3]
        count = x.numel() // x.shape[1]
        mean = _per_channel(rows.sum(dim=0), width) / count
        centred = rows - mean.repeat(width)
        variance = _per_channel(centred.square().sum(dim=0), width) / count
        scale = torch.rsqrt(variance + eps)
        y = torch.addcmul(bias.repeat(width), centred, (weight * scale).repeat(width)).clamp_min_(0)
        if dropout:
            y.mul_(_keep(rows, dropout))
        ctx.save_for_backward(centred, y, weight, scale)
        ctx.mark_non_differentiable(mean, variance)
        return _planes(y, x.shape), mean, variance

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None]:
        centred, y, weight, scale = ctx.saved_tensors
        shape = gradients[0].shape
        width, count = shape[3], gradients[0].numel() // shape[1]
        # The output is above 0 exactly where ReLU and mask let the gradient pass.
        passed = torch.ops.aten.threshold_backward(_rows(gradients[0]), y, 0)
        of_bias = _per_channel(passed.sum(dim=0), width)
        of_weight = _per_channel((passed * centred).sum(dim=0), width) * scale
        slope, lean, shift = _input_gradient(weight, scale, of_weight, of_bias, count)
        dx = torch.addcmul(shift.repeat(width), passed, slope.repeat(width))
        dx.addcmul_(centred, lean.repeat(width))
        return _planes(dx, shape), of_weight, of_bias, None, None


class _FusedNormReluDrop(torch.autograd.Function):
    """The same with the kernel: two passes over memory for the statistics, one for the output, two for the gradient."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, dropout: float, eps: float
    ) -> tuple[Tensor, Tensor, Tensor]:
        rows, width = _rows(x).contiguous(), x.shape[3]
        count = x.numel() // x.shape[1]
        mean = _per_channel(kernel.norm_sums(rows), width) / count
        center = mean.repeat(width)
        variance = _per_channel(kernel.norm_sums(rows, center), width) / count
        scale = torch.rsqrt(variance + eps)
        seed = int(torch.randint(2**63 - 1, ())) if dropout else 0
        y = kernel.norm_apply(rows, center, (weight * scale).repeat(width), bias.repeat(width), seed, dropout)
        ctx.save_for_backward(rows, center, y, weight, scale)
        ctx.mark_non_differentiable(mean, variance)
        return _planes(y, x.shape), mean, variance

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None]:
        rows, center, y, weight, scale = ctx.saved_tensors
        shape = gradients[0].shape
        width, count = shape[3], gradients[0].numel() // shape[1]
        gradient = _rows(gradients[0]).contiguous()
        zeroth, first = kernel.norm_gradient_sums(gradient, y, rows, center)
        of_bias, of_weight = _per_channel(zeroth, width), _per_channel(first, width) * scale
        slope, lean, shift = _input_gradient(weight, scale, of_weight, of_bias, count)
        parts = [part.repeat(width) for part in (slope, lean, shift)]
        dx = kernel.norm_gradient(gradient, y, rows, center, *parts)
        return _planes(dx, shape), of_weight, of_bias, None, None


def _input_gradient(
    weight: Tensor, scale: Tensor, of_weight: Tensor, of_bias: Tensor, count: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Per channel a, b, c of the gradient `a g + b (x - mean) + c` of the input.

    With h = (x - mean) scale it is `weight * scale * (g - mean(g) - h mean(g h))`.
    """
    slope = weight * scale
    return slope, -slope * scale * of_weight / count, -slope * of_bias / count


def _keep(rows: Tensor, dropout: float) -> Tensor:
    """1 to keep a unit, 0 to drop it."""
    words = torch.empty((rows.numel() + 3) // 4, dtype=torch.int64).random_(-(2**63), None)
    # In place on int16: a comparison that gives bool takes ten times as long.
    bits = words.view(torch.int16)[: rows.numel()].ge_(round(dropout * 2**16) - 2**15)
    return bits.to(rows.dtype).view(rows.shape)


def _rows(x: Tensor) -> Tensor:
    """(B, C, H, W) as rows of pixels (B * H, W * C); no copy where the memory is channels-last."""
    B, C, H, W = x.shape
    return x.permute(0, 2, 3, 1).reshape(B * H, W * C)


def _planes(rows: Tensor, shape: torch.Size) -> Tensor:
    B, C, H, W = shape
    return rows.view(B, H, W, C).permute(0, 3, 1, 2)


def _per_channel(row: Tensor, width: int) -> Tensor:
    """Sum of a row (W * C,) over its pixels, (C,)."""
    return row.view(width, -1).sum(dim=0)
