"""Layer norm over planes and ReLU as one step, in the layout that convolutions on a GPU are fastest in."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from ..fuzzy.once import once_differentiable
from . import triton_norms as kernels

# Values of a picture's planes that one program holds.
MOST = 1 << 15
# Values for each thread, about.
SHARE = 32


def serves(planes: Tensor) -> bool:
    """Whether a program can hold a picture of planes (B, C, H, W)."""
    _, C, H, W = planes.shape
    return len(planes) > 0 and _above(C) * _above(H * W) <= MOST


def norm_relu(planes: Tensor, norm: nn.GroupNorm) -> Tensor:
    """`relu(norm(planes))` for a norm of one group, (B, C, H, W), channels last in memory."""
    y: Tensor = _NormRelu.apply(planes, norm.weight, norm.bias, norm.eps)  # type: ignore[no-untyped-call]
    return y


class _NormRelu(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, planes: Tensor, gain: Tensor, shift: Tensor, eps: float) -> Tensor:
        x = planes.contiguous(memory_format=torch.channels_last)
        B, C, H, W = x.shape
        y, statistics = torch.empty_like(x), x.new_empty(B, 2)
        kernels.norm_relu[(B,)](x, gain, shift, y, statistics, eps, H * W, C, **_blocks(C, H * W))
        ctx.save_for_backward(x, gain, shift, statistics)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        x, gain, shift, statistics = ctx.saved_tensors
        B, C, H, W = x.shape
        of_y = gradient.contiguous(memory_format=torch.channels_last)
        of_x, sums = torch.empty_like(x), x.new_empty(B, 2, C)
        kernels.norm_relu_gradient[(B,)](
            of_y, x, gain, shift, statistics, of_x, sums, H * W, C, **_blocks(C, H * W)
        )
        of_gain, of_shift = sums.sum(dim=0)
        return of_x, of_gain, of_shift, None


def _blocks(channels: int, pixels: int) -> dict[str, int]:
    """Of a picture's program: pixels, channels, warps."""
    values = _above(pixels) * _above(channels)
    return {"BP": _above(pixels), "BC": _above(channels), "num_warps": min(16, max(4, values // 32 // SHARE))}


def _above(size: int) -> int:
    """The least power of 2 that is not below."""
    return 1 << max(size - 1, 0).bit_length()
