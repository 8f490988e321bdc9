"""The paper's four stages of convolution, batch norm, ReLU and dropout in few kernels, forward and backward."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from ..fuzzy.once import once_differentiable
from . import triton_convolving as kernels

# Channels of a program that multiplies matrices, at least.
CHANNELS = 16
# Pixels, patch values and warps of a program, by stage: convolutions, their gradients by weights and by input. Chosen
# by the time of each kernel on an H200.
CONVOLVING = ((64, 32, 4), (32, 32, 2), (32, 32, 2), (32, 32, 2))
WEIGHING = ((64, 32, 4), (32, 32, 2), (32, 32, 2), (32, 32, 2))
RETURNING = ((32, 32, 2), (32, 32, 2), (32, 32, 2), (32, 32, 2))
# Programs that share the weights' gradient, about.
SHARING = 256
# Pixels of a program that only reads and writes.
WIDE = 256
# Programs that share the pixels of a sum, at most.
PARTS = 256


class Sizes(NamedTuple):
    """Of a convolution over B pictures."""

    M: int
    """output pixels"""
    K: int
    """values that each reads"""
    N: int
    """output channels"""
    C: int
    size: int
    H: int
    W: int
    OH: int
    OW: int
    stride: int

    @property
    def pixels(self) -> int:
        """Of an output plane."""
        return self.OH * self.OW


class Stage(NamedTuple):
    """A convolution and the batch norm behind it."""

    convolution: nn.Conv2d
    norm: nn.BatchNorm2d

    def sizes(self, pictures: int, height: int, width: int) -> Sizes:
        """Of this convolution over pictures of that size."""
        N, C, size, _ = self.convolution.weight.shape
        stride = self.convolution.stride[0]
        OH, OW = (height - size) // stride + 1, (width - size) // stride + 1
        return Sizes(pictures * OH * OW, size * size * C, N, C, size, height, width, OH, OW, stride)


def _cells(count: int, block: int) -> int:
    return -(-count // block)


def settled_stages(pictures: Tensor, stages: Sequence[Stage], brightness: float) -> Tensor:
    """Features (B, F) of pictures (B, H, W, C) in evaluation mode, planes row-major; no gradient."""
    x = pictures.contiguous()
    B, H, W, _ = x.shape
    for index, stage in enumerate(stages):
        sizes, norm = stage.sizes(B, H, W), stage.norm
        y = torch.empty(sizes.M, sizes.N, device=x.device, dtype=torch.float32)
        held = (norm.weight, norm.bias, norm.running_mean, norm.running_var)
        if sizes.M:
            pixels, patch, warps = CONVOLVING[index]
            kernels.convolve[(_cells(sizes.M, pixels),)](
                *(x, stage.convolution.weight.contiguous(), *held, y, y, y),
                *(1.0 if index else brightness, norm.eps, *sizes),
                settled=True,
                planes=index == len(stages) - 1,
                BM=pixels,
                BN=CHANNELS,
                BK=patch,
                num_warps=warps,
            )
        x, H, W = y, sizes.OH, sizes.OW
    return x.view(B, -1)


def training_stages(pictures: Tensor, stages: Sequence[Stage], brightness: float, dropout: float) -> Tensor:
    """Features (B, F) of pictures (B, H, W, C) in training mode; running statistics follow."""
    learned = [
        parameter
        for stage in stages
        for parameter in (stage.convolution.weight, stage.norm.weight, stage.norm.bias)
    ]
    features: Tensor = _Stages.apply(pictures, stages, brightness, dropout, *learned)  # type: ignore[no-untyped-call]
    return features


class _Stages(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        pictures: Tensor,
        stages: Sequence[Stage],
        brightness: float,
        dropout: float,
        *learned: Tensor,
    ) -> Tensor:
        x = pictures.contiguous()
        B, H, W, _ = x.shape
        # One draw for all stages; the units' own numbers follow from it and their places.
        seed = torch.randint(2**31 - 1, (1,), device=x.device) if dropout else x
        saved: list[Tensor] = []
        ctx.sizes = []
        for index, stage in enumerate(stages):
            weight, gain, shift = (part.contiguous() for part in learned[3 * index : 3 * index + 3])
            sizes, norm = stage.sizes(B, H, W), stage.norm
            pixels, patch, warps = CONVOLVING[index]
            blocks = _cells(sizes.M, pixels)
            y, z = (torch.empty(sizes.M, sizes.N, device=x.device) for _ in range(2))
            parts = torch.empty(2, blocks, sizes.N, device=x.device)
            kernels.convolve[(blocks,)](
                *(
                    x,
                    weight,
                    y,
                    y,
                    y,
                    y,
                    y,
                    parts[0],
                    parts[1],
                    1.0 if index else brightness,
                    norm.eps,
                    *sizes,
                ),
                settled=False,
                planes=False,
                BM=pixels,
                BN=CHANNELS,
                BK=patch,
                num_warps=warps,
            )
            found = torch.empty(2, sizes.N, device=x.device)
            running = (norm.running_mean, norm.running_var, norm.num_batches_tracked)
            kernels.settle[(1,)](
                *(*parts, *found, *running, norm.momentum, norm.eps, blocks, sizes.M, sizes.N),
                BM=pixels,
                BN=sizes.N,
                BP=512,
                num_warps=8,
            )
            kernels.norm_relu_drop[(_cells(sizes.M, WIDE),)](
                *(y, *found, gain, shift, seed, z, dropout, index, sizes.M, sizes.N, sizes.pixels),
                drops=dropout > 0,
                planes=index == len(stages) - 1,
                BM=WIDE,
                BN=sizes.N,
            )
            saved += [x, weight, gain, y, found]
            ctx.sizes.append(sizes)
            x, H, W = z, sizes.OH, sizes.OW
        ctx.brightness, ctx.dropout = brightness, dropout
        features = x.view(B, -1)
        ctx.save_for_backward(*saved, features)
        return features

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        *saved, z = ctx.saved_tensors
        of_z = gradient.contiguous()
        found: list[Tensor] = []
        for index in reversed(range(len(ctx.sizes))):
            x, weight, gain, y, statistics = saved[5 * index : 5 * index + 5]
            sizes: Sizes = ctx.sizes[index]
            of_y, of_gain, of_shift = _through_norm(
                (of_z, z, y, *statistics), gain, ctx.dropout, sizes, planes=index == len(ctx.sizes) - 1
            )
            of_weight = _of_weight(x, of_y, weight, 1.0 if index else ctx.brightness, sizes, index)
            found[:0] = [of_weight, of_gain, of_shift]
            if index:
                of_z, z = _of_input(of_y, weight, sizes, index), x
        return None, None, None, None, *found


def _through_norm(
    held: tuple[Tensor, ...], gain: Tensor, dropout: float, sizes: Sizes, *, planes: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of a convolution's values, and of gain and shift."""
    share = _cells(_cells(sizes.M, PARTS), WIDE) * WIDE
    parts = _cells(sizes.M, share)
    sums = gain.new_empty(parts, 2, sizes.N)
    kept, options = 1 / (1 - dropout), {"planes": planes, "BM": WIDE, "BN": sizes.N}
    kernels.norm_gradient_sums[(parts,)](
        *(*held, sums, kept, share, sizes.M, sizes.N, sizes.pixels), **options
    )
    of_y = gain.new_empty(sizes.M, sizes.N)
    of_gain, of_shift = torch.empty_like(gain), torch.empty_like(gain)
    kernels.norm_gradient[(_cells(sizes.M, WIDE),)](
        *(*held, gain, sums, of_y, of_gain, of_shift, kept, parts, sizes.M, sizes.N, sizes.pixels),
        **options,
        BP=PARTS,
    )
    return of_y, of_gain, of_shift


def _of_weight(
    x: Tensor, of_y: Tensor, weight: Tensor, brightness: float, sizes: Sizes, index: int
) -> Tensor:
    pixels, patch, warps = WEIGHING[index]
    blocks = _cells(sizes.K, patch)
    share = _cells(_cells(sizes.M, max(1, SHARING // blocks)), pixels) * pixels
    parts = _cells(sizes.M, share)
    of_weight = weight.new_empty(parts, *weight.shape)
    kernels.weight_gradient[blocks, parts](
        *(x, of_y, of_weight, brightness, share, *sizes), BM=pixels, BN=CHANNELS, BK=patch, num_warps=warps
    )
    return of_weight.sum(dim=0)


def _of_input(of_y: Tensor, weight: Tensor, sizes: Sizes, index: int) -> Tensor:
    pixels, patch, warps = RETURNING[index]
    count = of_y.shape[0] // sizes.pixels * sizes.H * sizes.W
    of_x = of_y.new_empty(count, sizes.C)
    inputs = sizes._replace(M=count, K=sizes.size * sizes.size * sizes.N)
    kernels.input_gradient[(_cells(count, pixels),)](
        *(of_y, weight, of_x, *inputs), BM=pixels, BC=CHANNELS, BK=patch, num_warps=warps
    )
    return of_x
