"""Batch norm, ReLU and dropout of a training pass in one step, for convolutions with few channels."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from ..fuzzy.backends import Normed, backend_for
from ..fuzzy.once import once_differentiable
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
    # Dropout's scale goes into the affine part: a positive factor passes through ReLU.
    weight, bias = (part.to(x.dtype) / (1 - dropout) for part in (norm.weight, norm.bias))
    y: Tensor
    y, mean, variance = _NormReluDrop.apply(x, weight, bias, dropout, norm.eps)  # type: ignore[no-untyped-call]
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
        ctx.backend = backend_for(x)
        normed = ctx.backend.norm_relu_drop(_rows(x), weight, bias, dropout, eps)
        ctx.save_for_backward(weight, *normed)
        ctx.mark_non_differentiable(normed.mean, normed.variance)
        return _planes(normed.y, x.shape), normed.mean, normed.variance

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None]:
        weight, *saved = ctx.saved_tensors
        gradient = _rows(gradients[0])
        dx, of_weight, of_bias = ctx.backend.norm_relu_drop_gradient(gradient, Normed(*saved), weight)
        return _planes(dx, gradients[0].shape), of_weight, of_bias, None, None


def _rows(x: Tensor) -> Tensor:
    """(B, C, H, W) as rows of pixels (B * H, W * C); no copy where the memory is channels-last."""
    B, C, H, W = x.shape
    return x.permute(0, 2, 3, 1).reshape(B * H, W * C)


def _planes(rows: Tensor, shape: torch.Size) -> Tensor:
    B, C, H, W = shape
    return rows.view(B, H, W, C).permute(0, 3, 1, 2)
