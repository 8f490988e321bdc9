"""Kernels for NVIDIA GPUs, in Triton. Letters: B batch, D attributes, T terms, U rules; see `interface.py`.

All tensors lie in one piece of memory. A program works on a block of attributes or rows and goes through the terms one
by one, so no tensor (B, D, T) or (B, D, U) is made. Differences are formed before they are squared: single precision
loses no digits to narrow sets far from zero.
"""

# mypy: ignore-errors

from __future__ import annotations

import triton
import triton.language as tl

_GOLDEN = tl.constexpr(0x9E3779B97F4A7C15)
_FIRST = tl.constexpr(0xBF58476D1CE4E5B9)
_SECOND = tl.constexpr(0x94D049BB133111EB)


@triton.jit
def mixed(z):
    """The output of a state of SplitMix64."""
    z = (z ^ (z >> 30)) * _FIRST
    z = (z ^ (z >> 27)) * _SECOND
    return z ^ (z >> 31)


@triton.jit
def mixed_seed(seed, position):
    """One SplitMix64 output, as in `splitmix.py`."""
    return mixed(seed.to(tl.uint64) + (position.to(tl.uint64) + 1) * _GOLDEN)


@triton.jit
def uniform_of(bits):
    """Uniform float32 numbers in (0, 1) of the upper 23 bits."""
    return ((bits >> 41).to(tl.float32) + 0.5) * 1.1920928955078125e-07


@triton.jit
def _uniform(seed, position):
    """Uniform float32 numbers in (0, 1), one for each position."""
    return uniform_of(mixed_seed(seed, position))


@triton.jit
def softplus(raw):
    """`log(1 + exp(raw))` to the last digits, though the sum rounds: by how far it rounds (Kahan)."""
    small = tl.exp(tl.minimum(raw, 20.0))
    one_more = 1 + small
    exact = tl.where(
        one_more == 1, small, tl.log(one_more) * (small / tl.where(one_more == 1, 1.0, one_more - 1))
    )
    return tl.where(raw > 20, raw, exact)


@triton.jit
def uniform(seed_at, out_at, count, BLOCK: tl.constexpr):
    """Uniform numbers, one for each position."""
    position = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_at + position, _uniform(tl.load(seed_at), position), position < count)


@triton.jit
def gumbel(seed_at, draw_at, out_at, scale, fall, count, BLOCK: tl.constexpr):
    """Gumbel numbers of a draw, one for each position."""
    position = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    draw = tl.load(draw_at)
    numbers = _uniform(mixed_seed(tl.load(seed_at), draw), position).to(out_at.dtype.element_ty)
    noise = -tl.log(-tl.log(numbers)) * (scale * tl.maximum(1 - draw.to(tl.float64) * fall, 0.0)).to(
        numbers.dtype
    )
    tl.store(out_at + position, noise, position < count)


@triton.jit
def count_pass(x_at, passes_at, spoilt_at, draw_at, hold, count, BLOCK: tl.constexpr):
    """The number of a pass's draw; and the pass is kept if a value of x is not finite, unless one is kept already."""
    position = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_at + position, position < count, 0.0)
    passes = tl.load(passes_at)
    if tl.program_id(0) == 0:
        tl.store(draw_at, (passes - 1) // hold)
    lost = tl.max(((x - x) != 0).to(tl.int32), axis=0) > 0
    if lost & (tl.load(spoilt_at) == 0):
        tl.store(spoilt_at, passes)


@triton.jit
def select(
    logits_at,
    noise_at,
    mask_at,
    centers_at,
    precisions_at,
    term_at,
    center_at,
    precision_at,
    T,
    D,
    U,
    noisy: tl.constexpr,
    BD: tl.constexpr,
    BU: tl.constexpr,
):
    """The existing term of greatest score of each attribute and rule, its centre and its precision, (D, U)."""
    d = tl.program_id(0) * BD + tl.arange(0, BD)
    u = tl.program_id(1) * BU + tl.arange(0, BU)
    inside = (d < D)[:, None] & (u < U)[None, :]
    place = d[:, None] * U + u[None, :]
    best = tl.full((BD, BU), float("-inf"), logits_at.dtype.element_ty)
    term = tl.full((BD, BU), -1, tl.int32)
    lost = tl.zeros((BD, BU), tl.int32)
    center = tl.full((BD, BU), float("nan"), logits_at.dtype.element_ty)
    precision = tl.zeros((BD, BU), logits_at.dtype.element_ty)
    for t in range(T):
        exists = tl.load(mask_at + d * T + t, d < D, 0)[:, None] != 0
        c = tl.load(centers_at + d * T + t, d < D, 0.0)[:, None]
        s = tl.load(precisions_at + d * T + t, d < D, 0.0)[:, None]
        score = tl.load(logits_at + t * D * U + place, inside, 0.0)
        if noisy:
            score += tl.load(noise_at + t * D * U + place, inside, 0.0)
        lost |= (exists & (score != score)).to(tl.int32)
        better = exists & ((term < 0) | (score > best))
        best = tl.where(better, score, best)
        term = tl.where(better, t, term)
        center = tl.where(better, c, center)
        precision = tl.where(better, s, precision)
    center = tl.where(lost != 0, float("nan"), center + (center - center))
    tl.store(term_at + place, tl.maximum(term, 0), inside)
    tl.store(center_at + place, center, inside)
    tl.store(precision_at + place, precision + (precision - precision), inside)


@triton.jit
def distance(
    x_at,
    center_at,
    precision_at,
    out_at,
    B,
    D,
    U,
    chunk,
    BB: tl.constexpr,
    BU: tl.constexpr,
):
    """`-sum_d precision (x - center)**2` over one chunk of the attributes, (chunks, B, U)."""
    b = tl.program_id(0) * BB + tl.arange(0, BB)
    u = tl.program_id(1) * BU + tl.arange(0, BU)
    first = tl.program_id(2) * chunk
    total = tl.zeros((BB, BU), out_at.dtype.element_ty)
    for d in range(first, tl.minimum(first + chunk, D)):
        x = tl.load(x_at + b * D + d, b < B, 0.0)[:, None]
        c = tl.load(center_at + d * U + u, u < U, 0.0)[None, :]
        s = tl.load(precision_at + d * U + u, u < U, 0.0)[None, :]
        away = x - c
        total -= away * away * s
    inside = (b < B)[:, None] & (u < U)[None, :]
    tl.store(out_at + tl.program_id(2) * B * U + b[:, None] * U + u[None, :], total, inside)


@triton.jit
def gradient(
    logits_at,
    noise_at,
    mask_at,
    term_at,
    centers_at,
    precisions_at,
    zeroth_at,
    first_at,
    second_at,
    rate,
    of_logits_at,
    of_centers_at,
    of_precisions_at,
    T,
    D,
    U,
    noisy: tl.constexpr,
    soft: tl.constexpr,
    per_attribute: tl.constexpr,
    BD: tl.constexpr,
    BU: tl.constexpr,
):
    """Gradients of logits (T, D, U), centres and precisions (D, T) from the moments of a gradient; see `Backend`."""
    d = tl.program_id(0) * BD + tl.arange(0, BD)
    known = d < D
    dtype = logits_at.dtype.element_ty
    for start in range(0, U, BU):
        u = start + tl.arange(0, BU)
        inside = known[:, None] & (u < U)[None, :]
        place = d[:, None] * U + u[None, :]
        if per_attribute:
            zeroth = tl.load(zeroth_at + place, inside, 0.0)
        else:
            zeroth = tl.load(zeroth_at + u, u < U, 0.0)[None, :]
        first = tl.load(first_at + place, inside, 0.0)
        second = tl.load(second_at + place, inside, 0.0)
        term = tl.load(term_at + place, inside, 0).to(tl.int32)
        # Softmax over the terms, in units of the greatest score so far.
        greatest = tl.full((BD, BU), float("-inf"), dtype)
        lost = tl.zeros((BD, BU), dtype)
        for t in range(T):
            if soft:
                exists = tl.load(mask_at + d * T + t, known, 0)[:, None] != 0
                score = tl.load(logits_at + t * D * U + place, inside, 0.0)
                if noisy:
                    score += tl.load(noise_at + t * D * U + place, inside, 0.0)
                lost = tl.where(exists & (score != score), float("nan"), lost)
                greatest = tl.where(exists & (score > greatest), score, greatest)
        greatest += lost
        total = tl.zeros((BD, BU), dtype)
        mean = tl.zeros((BD, BU), dtype)
        for t in range(T):
            exists = tl.load(mask_at + d * T + t, known, 0)
            c = tl.where(exists != 0, tl.load(centers_at + d * T + t, known, 0.0), 0.0)[:, None]
            s = tl.where(exists != 0, tl.load(precisions_at + d * T + t, known, 0.0), 0.0)[:, None]
            slope = first - c * zeroth
            square = second - c * (first + slope)
            used = ((term == t) & inside).to(dtype)
            of_center = tl.sum(slope * used, axis=1) * 2 * tl.reshape(s, (BD,))
            of_precision = -tl.sum(square * used, axis=1)
            if start > 0:
                of_center += tl.load(of_centers_at + d * T + t, known, 0.0)
                of_precision += tl.load(of_precisions_at + d * T + t, known, 0.0)
            tl.store(of_centers_at + d * T + t, of_center, known)
            tl.store(of_precisions_at + d * T + t, of_precision, known)
            if soft:
                score = tl.load(logits_at + t * D * U + place, inside, 0.0)
                if noisy:
                    score += tl.load(noise_at + t * D * U + place, inside, 0.0)
                weight = tl.where(exists[:, None] != 0, tl.exp((score - greatest) * rate), 0.0)
                total += weight
                # Behind a choice the product is rounded, here and below: one term alone has a gradient of exactly 0.
                mean += weight * tl.where(exists[:, None] != 0, -s * square, 0.0)
            else:
                tl.store(of_logits_at + t * D * U + place, -s * square, inside)
        if soft:
            mean /= total
            for t in range(T):
                exists = tl.load(mask_at + d * T + t, known, 0)[:, None] != 0
                c = tl.load(centers_at + d * T + t, known, 0.0)[:, None]
                s = tl.load(precisions_at + d * T + t, known, 0.0)[:, None]
                score = tl.load(logits_at + t * D * U + place, inside, 0.0)
                if noisy:
                    score += tl.load(noise_at + t * D * U + place, inside, 0.0)
                weight = tl.exp((score - greatest) * rate) / total
                slope = first - c * zeroth
                square = second - c * (first + slope)
                value = (tl.where(exists, -s * square, 0.0) - mean) * weight * rate
                tl.store(of_logits_at + t * D * U + place, tl.where(exists, value, 0.0), inside)


@triton.jit
def uncovered(
    x_at,
    centers_at,
    precisions_at,
    mask_at,
    limit,
    count_at,
    mean_at,
    m2_at,
    B,
    D,
    T,
    BB: tl.constexpr,
    BD: tl.constexpr,
):
    """Count, mean and squared deviations (D,) of the values of x (B, D) that no set reaches."""
    d = tl.program_id(0) * BD + tl.arange(0, BD)
    dtype = x_at.dtype.element_ty
    count = tl.zeros((BD,), dtype)
    mean = tl.zeros((BD,), dtype)
    m2 = tl.zeros((BD,), dtype)
    for start in range(0, B, BB):
        b = start + tl.arange(0, BB)
        inside = (b < B)[:, None] & (d < D)[None, :]
        x = tl.load(x_at + b[:, None] * D + d[None, :], inside, 0.0)
        nearest = tl.full((BB, BD), float("inf"), dtype)
        for t in range(T):
            c = tl.load(centers_at + d * T + t, d < D, 0.0)
            s = tl.load(precisions_at + d * T + t, d < D, 0.0)
            covers = (tl.load(mask_at + d * T + t, d < D, 0) != 0) & (((c - c) + (s - s)) == 0)
            away = x - c[None, :]
            reach = away * away * s[None, :]
            nearest = tl.where(covers[None, :] & ~(reach >= nearest), reach, nearest)
        fails = inside & (nearest > limit)
        counted = tl.sum(fails.to(dtype), axis=0)
        here = tl.sum(tl.where(fails, x, 0.0), axis=0) / tl.maximum(counted, 1.0)
        spread = tl.where(fails, x - here[None, :], 0.0)
        squares = tl.sum(spread * spread, axis=0)
        # Chan's merge of this block of rows with those before.
        both = count + counted
        share = counted / tl.maximum(both, 1.0)
        delta = here - mean
        m2 += squares + delta * delta * count * share
        mean += delta * share
        count = both
    tl.store(count_at + d, count, d < D)
    tl.store(mean_at + d, mean, d < D)
    tl.store(m2_at + d, m2, d < D)


@triton.jit
def entmax15(rows_at, out_at, U, steps: tl.constexpr, BLOCK: tl.constexpr):
    """1.5-entmax of a row whose greatest entry is 0.

    Its threshold is the root of `sum max(z - tau, 0)**2 = 1`, z half the row: convex and falling, so Newton's steps
    from -1, where the sum is at least 1, never go past it.
    """
    u = tl.arange(0, BLOCK)
    row = tl.load(rows_at + tl.program_id(0) * U + u, u < U, float("-inf"))
    z = row * 0.5
    tau = tl.full((1,), -1.0, row.dtype)
    for _ in range(steps):
        above = tl.maximum(z - tau, 0.0)
        tau += (tl.sum(above * above, axis=0) - 1) / (2 * tl.sum(above, axis=0))
    above = tl.maximum(z - tau, 0.0)
    lost = tl.max((row != row).to(tl.int32), axis=0)
    levels = tl.where(lost > 0, float("nan"), above * above)
    tl.store(out_at + tl.program_id(0) * U + u, levels, u < U)


@triton.jit
def entmax15_gradient(levels_at, gradient_at, out_at, U, BLOCK: tl.constexpr):
    """The gradient of `entmax15`: with s the roots of the levels, `s (g - sum s g / sum s)`."""
    u = tl.program_id(0) * U + tl.arange(0, BLOCK)
    inside = tl.arange(0, BLOCK) < U
    slope = tl.sqrt(tl.load(levels_at + u, inside, 0.0))
    gradient = tl.load(gradient_at + u, inside, 0.0)
    mean = tl.sum(slope * gradient, axis=0) / tl.sum(slope, axis=0)
    tl.store(out_at + u, slope * (gradient - mean), inside)
