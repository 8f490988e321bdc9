"""The paper's small convolutions on an NVIDIA GPU: few channels, so that a library's kernels are mostly conversions.

Pictures and planes lie in memory as (B, height, width, channels); an output pixel m = (b, row, column) reads a patch of
K = size * size * C values, ordered by row, column, channel. Products are three of reduced precision each (tf32x3), and
sums over pixels are made of parts that are added in a fixed order: a pass repeats itself to the last bit.
"""

# mypy: ignore-errors

from __future__ import annotations

import triton
import triton.language as tl

# Sizes of a convolution are compiled in: to divide by a number that is not known takes longer than all else together.


@triton.jit(do_not_specialize=("M",))
def convolve(
    x_at,
    w_at,
    gain_at,
    shift_at,
    mean_at,
    variance_at,
    y_at,
    means_at,
    squares_at,
    brightness,
    eps,
    M,
    K: tl.constexpr,
    N: tl.constexpr,
    C: tl.constexpr,
    size: tl.constexpr,
    H: tl.constexpr,
    W: tl.constexpr,
    OH: tl.constexpr,
    OW: tl.constexpr,
    stride: tl.constexpr,
    settled: tl.constexpr,
    planes: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
):
    """A convolution of a block of pixels.

    `settled` (evaluation): followed by batch norm of running statistics and ReLU, and written as planes
    (B, channels, pixels) if so asked. Else (training): its values, and their mean and sum of squared deviations per
    channel in this block.
    """
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    known = m < M
    picture, pixel = m // (OH * OW), m % (OH * OW)
    corner = ((picture * H + pixel // OW * stride) * W + pixel % OW * stride) * C
    n = tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        row, along = k // (size * C), k % (size * C)
        x = tl.load(
            x_at + corner[:, None] + (row * W * C + along)[None, :], known[:, None] & (k < K)[None, :], 0
        )
        place = along % C * (size * size) + row * size + along // C
        w = tl.load(w_at + n[None, :] * K + place[:, None], (k < K)[:, None] & (n < N)[None, :], 0.0)
        total = tl.dot(x.to(tl.float32), w, total, input_precision="tf32x3")
    inside = known[:, None] & (n < N)[None, :]
    total *= brightness
    if settled:
        factor = tl.load(gain_at + n, n < N, 0.0) * tl.rsqrt(tl.load(variance_at + n, n < N, 1.0) + eps)
        offset = tl.load(shift_at + n, n < N, 0.0) - tl.load(mean_at + n, n < N, 0.0) * factor
        total = total * factor[None, :] + offset[None, :]
        total = tl.where(total < 0, 0.0, total)  # NaN stays
    else:
        rows = tl.minimum(M - tl.program_id(0) * BM, BM)
        mean = tl.sum(tl.where(inside, total, 0.0), axis=0) / rows
        away = tl.where(inside, total - mean[None, :], 0.0)
        tl.store(means_at + tl.program_id(0) * N + n, mean, n < N)
        tl.store(squares_at + tl.program_id(0) * N + n, tl.sum(away * away, axis=0), n < N)
    at = m[:, None] * N + n[None, :]
    if planes:
        at = (picture * N * OH * OW + pixel)[:, None] + n[None, :] * (OH * OW)
    tl.store(y_at + at, total, inside)


@triton.jit(do_not_specialize=("parts", "M"))
def settle(
    means_at,
    squares_at,
    mean_at,
    spread_at,
    running_mean_at,
    running_variance_at,
    tracked_at,
    momentum,
    eps,
    parts,
    M,
    N: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BP: tl.constexpr,
):
    """Mean and 1 / standard deviation of the whole from those of blocks of BM pixels; running statistics follow."""
    n = tl.arange(0, BN)
    own = (n < N)[None, :]
    mean = tl.zeros((BN,), tl.float32)
    for start in range(0, parts, BP):
        p = start + tl.arange(0, BP)
        rows = tl.maximum(tl.minimum(M - p * BM, BM), 0).to(tl.float32)
        here = tl.load(means_at + p[:, None] * N + n[None, :], (p < parts)[:, None] & own, 0.0)
        mean += tl.sum(here * (rows / M)[:, None], axis=0)
    total = tl.zeros((BN,), tl.float32)
    for start in range(0, parts, BP):
        p = start + tl.arange(0, BP)
        rows = tl.maximum(tl.minimum(M - p * BM, BM), 0).to(tl.float32)
        inside = (p < parts)[:, None] & own
        away = tl.load(means_at + p[:, None] * N + n[None, :], inside, 0.0) - mean[None, :]
        squares = tl.load(squares_at + p[:, None] * N + n[None, :], inside, 0.0)
        total += tl.sum(tl.where(inside, squares + away * away * rows[:, None], 0.0), axis=0)
    tl.store(mean_at + n, mean, n < N)
    tl.store(spread_at + n, tl.rsqrt(total / M + eps), n < N)
    before = tl.load(running_mean_at + n, n < N, 0.0)
    tl.store(running_mean_at + n, before + (mean - before) * momentum, n < N)
    before = tl.load(running_variance_at + n, n < N, 0.0)
    tl.store(running_variance_at + n, before + (total / (M - 1) - before) * momentum, n < N)
    tl.store(tracked_at, tl.load(tracked_at) + 1)


@triton.jit
def _kept(seed_at, stage, at, dropout, drops: tl.constexpr):
    """What dropout multiplies a unit by: 0, or 1 over the probability to be kept."""
    if drops:
        seed = tl.load(seed_at)
        return tl.where(tl.rand(seed, stage * 0x10000000 + at) < dropout, 0.0, 1 / (1 - dropout))
    else:
        return 1.0


@triton.jit(do_not_specialize=("M", "stage"))
def norm_relu_drop(
    y_at,
    mean_at,
    spread_at,
    gain_at,
    shift_at,
    seed_at,
    z_at,
    dropout,
    stage,
    M,
    N: tl.constexpr,
    pixels: tl.constexpr,
    drops: tl.constexpr,
    planes: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
):
    """Batch norm, ReLU and dropout of a block of pixels, written as planes (B, channels, pixels) if so asked."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.arange(0, BN)
    inside = (m < M)[:, None] & (n < N)[None, :]
    at = m[:, None] * N + n[None, :]
    factor = tl.load(spread_at + n, n < N, 0.0) * tl.load(gain_at + n, n < N, 0.0)
    away = tl.load(y_at + at, inside, 0.0) - tl.load(mean_at + n, n < N, 0.0)[None, :]
    normed = away * factor[None, :] + tl.load(shift_at + n, n < N, 0.0)[None, :]
    z = tl.where(normed < 0, 0.0, normed) * _kept(seed_at, stage, at, dropout, drops)
    if planes:
        at = (m // pixels * N * pixels + m % pixels)[:, None] + n[None, :] * pixels
    tl.store(z_at + at, z, inside)


@triton.jit
def _behind(
    of_z_at,
    z_at,
    y_at,
    mean,
    spread,
    kept,
    m,
    n,
    M,
    N: tl.constexpr,
    pixels: tl.constexpr,
    planes: tl.constexpr,
):
    """Gradient behind batch norm, and the normed values, of some pixels.

    What came out above 0 was let pass by ReLU and by dropout, which multiplied it by `kept`.
    """
    inside = (m < M)[:, None] & (n < N)[None, :]
    at = m[:, None] * N + n[None, :]
    there = at
    if planes:
        there = (m // pixels * N * pixels + m % pixels)[:, None] + n[None, :] * pixels
    normed = (tl.load(y_at + at, inside, 0.0) - mean[None, :]) * spread[None, :]
    passed = tl.load(z_at + there, inside, 0.0) > 0
    g = tl.where(passed, tl.load(of_z_at + there, inside, 0.0) * kept, 0.0)
    return g, tl.where(inside, normed, 0.0)


@triton.jit(do_not_specialize=("M", "share"))
def norm_gradient_sums(
    of_z_at,
    z_at,
    y_at,
    mean_at,
    spread_at,
    sums_at,
    kept,
    share,
    M,
    N: tl.constexpr,
    pixels: tl.constexpr,
    planes: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
):
    """Over `share` pixels: sums per channel of the gradient, and of its product with the normed values."""
    n = tl.arange(0, BN)
    mean, spread = tl.load(mean_at + n, n < N, 0.0), tl.load(spread_at + n, n < N, 0.0)
    first, second = tl.zeros((BN,), tl.float32), tl.zeros((BN,), tl.float32)
    begin = tl.program_id(0) * share
    end = tl.minimum(begin + share, M)
    for start in range(begin, end, BM):
        m = start + tl.arange(0, BM)
        g, normed = _behind(of_z_at, z_at, y_at, mean, spread, kept, m, n, end, N, pixels, planes)
        first += tl.sum(g, axis=0)
        second += tl.sum(g * normed, axis=0)
    tl.store(sums_at + tl.program_id(0) * 2 * N + n, first, n < N)
    tl.store(sums_at + tl.program_id(0) * 2 * N + N + n, second, n < N)


@triton.jit(do_not_specialize=("M", "parts"))
def norm_gradient(
    of_z_at,
    z_at,
    y_at,
    mean_at,
    spread_at,
    gain_at,
    sums_at,
    of_y_at,
    of_gain_at,
    of_shift_at,
    kept,
    parts,
    M,
    N: tl.constexpr,
    pixels: tl.constexpr,
    planes: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BP: tl.constexpr,
):
    """Gradient of what batch norm got, and of its gain and shift."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.arange(0, BN)
    p = tl.arange(0, BP)
    mean, spread = tl.load(mean_at + n, n < N, 0.0), tl.load(spread_at + n, n < N, 0.0)
    gain = tl.load(gain_at + n, n < N, 0.0)
    held = (p < parts)[:, None] & (n < N)[None, :]
    first = tl.sum(tl.load(sums_at + p[:, None] * 2 * N + n[None, :], held, 0.0), axis=0)
    second = tl.sum(tl.load(sums_at + p[:, None] * 2 * N + N + n[None, :], held, 0.0), axis=0)
    g, normed = _behind(of_z_at, z_at, y_at, mean, spread, kept, m, n, M, N, pixels, planes)
    of_y = (g - (first / M)[None, :] - normed * (second / M)[None, :]) * (gain * spread)[None, :]
    tl.store(of_y_at + m[:, None] * N + n[None, :], of_y, (m < M)[:, None] & (n < N)[None, :])
    if tl.program_id(0) == 0:
        tl.store(of_gain_at + n, second, n < N)
        tl.store(of_shift_at + n, first, n < N)


@triton.jit(do_not_specialize=("M", "share"))
def weight_gradient(
    x_at,
    of_y_at,
    of_w_at,
    brightness,
    share,
    M,
    K: tl.constexpr,
    N: tl.constexpr,
    C: tl.constexpr,
    size: tl.constexpr,
    H: tl.constexpr,
    W: tl.constexpr,
    OH: tl.constexpr,
    OW: tl.constexpr,
    stride: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
):
    """Gradient of some weights, (N, C, size, size), by `share` of the pixels: a part of the whole."""
    k = tl.program_id(0) * BK + tl.arange(0, BK)
    n = tl.arange(0, BN)
    row, along = k // (size * C), k % (size * C)
    total = tl.zeros((BK, BN), tl.float32)
    begin = tl.program_id(1) * share
    end = tl.minimum(begin + share, M)
    for start in range(begin, end, BM):
        m = start + tl.arange(0, BM)
        pixel = m % (OH * OW)
        corner = ((m // (OH * OW) * H + pixel // OW * stride) * W + pixel % OW * stride) * C
        inside = (k < K)[:, None] & (m < end)[None, :]
        x = tl.load(x_at + (row * W * C + along)[:, None] + corner[None, :], inside, 0)
        g = tl.load(of_y_at + m[:, None] * N + n[None, :], (m < end)[:, None] & (n < N)[None, :], 0.0)
        total = tl.dot(x.to(tl.float32), g, total, input_precision="tf32x3")
    place = along % C * (size * size) + row * size + along // C
    at = tl.program_id(1) * N * K + n[None, :] * K + place[:, None]
    tl.store(of_w_at + at, total * brightness, (k < K)[:, None] & (n < N)[None, :])


@triton.jit(do_not_specialize=("M",))
def input_gradient(
    of_y_at,
    w_at,
    of_x_at,
    M,
    K: tl.constexpr,
    N: tl.constexpr,
    C: tl.constexpr,
    size: tl.constexpr,
    H: tl.constexpr,
    W: tl.constexpr,
    OH: tl.constexpr,
    OW: tl.constexpr,
    stride: tl.constexpr,
    BM: tl.constexpr,
    BC: tl.constexpr,
    BK: tl.constexpr,
):
    """Gradient of a block of input pixels m = (b, row, column): over K = size * size * N weights of each channel."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    pixel = m % (H * W)
    row, column = pixel // W, pixel % W
    picture = m // (H * W) * OH * OW
    c = tl.arange(0, BC)
    total = tl.zeros((BM, BC), tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        place, n = k // N, k % N
        down, right = tl.where(k < K, place // size, H), place % size  # beyond the last weight, no row is met
        above, before = row[:, None] - down[None, :], column[:, None] - right[None, :]
        meets = (above >= 0) & (before >= 0)
        if stride == 2:
            meets = meets & ((above & 1) == 0) & ((before & 1) == 0)
            above, before = above >> 1, before >> 1
        meets = meets & (above < OH) & (before < OW) & (m < M)[:, None]
        g = tl.load(of_y_at + (picture[:, None] + above * OW + before) * N + n[None, :], meets, 0.0)
        at = (n[:, None] * C + c[None, :]) * (size * size) + place[:, None]
        w = tl.load(w_at + at, (k < K)[:, None] & (c < C)[None, :], 0.0)
        total = tl.dot(g, w, total, input_precision="tf32x3")
    tl.store(of_x_at + m[:, None] * C + c[None, :], total, (m < M)[:, None] & (c < C)[None, :])
