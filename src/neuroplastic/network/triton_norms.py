"""Layer norm over the planes of a picture, and ReLU, on an NVIDIA GPU: one program for each picture.

Planes lie in memory as (B, pixels, C). Sums over pictures are made of parts that are added in a fixed order.
"""

# mypy: ignore-errors

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def norm_relu(
    x_at, gain_at, shift_at, y_at, statistics_at, eps, pixels, C, BP: tl.constexpr, BC: tl.constexpr
):
    """`relu(gain (x - mean) / deviation + shift)`, gain and shift by channel; mean and 1 / deviation are kept."""
    p, c = tl.arange(0, BP), tl.arange(0, BC)
    inside = (p < pixels)[:, None] & (c < C)[None, :]
    at = tl.program_id(0).to(tl.int64) * pixels * C + p[:, None] * C + c[None, :]
    x = tl.load(x_at + at, inside, 0.0)
    count = pixels * C
    mean = tl.sum(tl.sum(x, axis=1), axis=0) / count
    away = tl.where(inside, x - mean, 0.0)
    spread = tl.rsqrt(tl.sum(tl.sum(away * away, axis=1), axis=0) / count + eps)
    gain, shift = tl.load(gain_at + c, c < C, 0.0), tl.load(shift_at + c, c < C, 0.0)
    y = away * spread * gain[None, :] + shift[None, :]
    tl.store(y_at + at, tl.where(y < 0, 0.0, y), inside)  # NaN stays
    tl.store(statistics_at + 2 * tl.program_id(0), mean)
    tl.store(statistics_at + 2 * tl.program_id(0) + 1, spread)


@triton.jit
def norm_relu_gradient(
    of_y_at,
    x_at,
    gain_at,
    shift_at,
    statistics_at,
    of_x_at,
    sums_at,
    pixels,
    C,
    BP: tl.constexpr,
    BC: tl.constexpr,
):
    """Gradient of a picture's planes, and this picture's part (2, C) of those of gain and shift."""
    p, c = tl.arange(0, BP), tl.arange(0, BC)
    inside = (p < pixels)[:, None] & (c < C)[None, :]
    at = tl.program_id(0).to(tl.int64) * pixels * C + p[:, None] * C + c[None, :]
    mean = tl.load(statistics_at + 2 * tl.program_id(0))
    spread = tl.load(statistics_at + 2 * tl.program_id(0) + 1)
    gain, shift = tl.load(gain_at + c, c < C, 0.0), tl.load(shift_at + c, c < C, 0.0)
    normed = tl.where(inside, (tl.load(x_at + at, inside, 0.0) - mean) * spread, 0.0)
    passes = inside & (normed * gain[None, :] + shift[None, :] > 0)
    g = tl.where(passes, tl.load(of_y_at + at, inside, 0.0), 0.0)
    part = tl.program_id(0) * 2 * C + c
    tl.store(sums_at + part, tl.sum(g * normed, axis=0), c < C)
    tl.store(sums_at + part + C, tl.sum(g, axis=0), c < C)
    g = g * gain[None, :]
    count = pixels * C
    level = tl.sum(tl.sum(g, axis=1), axis=0) / count
    lean = tl.sum(tl.sum(g * normed, axis=1), axis=0) / count
    tl.store(of_x_at + at, (g - level - normed * lean) * spread, inside)
