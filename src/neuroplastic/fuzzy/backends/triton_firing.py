"""Log-firing and its gradients on an NVIDIA GPU, from parameters to parameters, and layer norm with entmax.

What the other kernels compute in turn, with all that eager PyTorch would launch in between: bounds of the input, noise,
widths, origins. Single precision; products of matrices as three of reduced precision each (tf32x3), on values that are
measured from the middle of the sets.
"""

# mypy: ignore-errors

from __future__ import annotations

import triton
import triton.language as tl

from .triton_kernels import _uniform, mixed_seed, softplus


@triton.jit
def _bounded(x, farthest):
    """The input within its bounds; NaN where it is not finite."""
    within = tl.minimum(tl.maximum(x, -farthest), farthest)
    return tl.where((x - x) == 0, within, float("nan"))


@triton.jit
def fire(
    xt_at,
    logits_at,
    mask_at,
    centers_at,
    raw_at,
    seed_at,
    draw_at,
    scale,
    fall,
    score_at,
    term_at,
    center_at,
    precision_at,
    out_at,
    floor,
    farthest,
    B,
    D,
    U,
    chunk,
    T: tl.constexpr,
    noisy: tl.constexpr,
    CH: tl.constexpr,
    BU: tl.constexpr,
    BB: tl.constexpr,
):
    """Choose the premises of a chunk of attributes for a block of rules, then `-sum_d S (x - C)**2` over the chunk."""
    first = tl.program_id(0) * chunk
    k = tl.arange(0, CH)
    d = first + k
    known = (k < chunk) & (d < D)
    u = tl.program_id(1) * BU + tl.arange(0, BU)
    inside = known[:, None] & (u < U)[None, :]
    place = d[:, None] * U + u[None, :]
    best = tl.full((CH, BU), float("-inf"), tl.float32)
    term = tl.full((CH, BU), -1, tl.int32)
    lost = tl.zeros((CH, BU), tl.int32)
    center = tl.full((CH, BU), float("nan"), tl.float32)
    precision = tl.zeros((CH, BU), tl.float32)
    if noisy:
        draw = tl.load(draw_at)
        seed = mixed_seed(tl.load(seed_at), draw)
        strength = scale * tl.maximum(1 - draw.to(tl.float32) * fall, 0.0)
    for t in range(T):
        exists = tl.load(mask_at + d * T + t, known, 0)[:, None] != 0
        c = tl.load(centers_at + d * T + t, known, 0.0)[:, None]
        width = floor + softplus(tl.load(raw_at + d * T + t, known, 0.0))[:, None]
        score = tl.load(logits_at + t * D * U + place, inside, 0.0)
        if noisy:
            score += -tl.log(-tl.log(_uniform(seed, t * D * U + place))) * strength
            tl.store(score_at + t * D * U + place, score, inside)
        lost |= (exists & (score != score)).to(tl.int32)
        better = exists & ((term < 0) | (score > best))
        best = tl.where(better, score, best)
        term = tl.where(better, t, term)
        center = tl.where(better, c, center)
        precision = tl.where(better, 0.5 / (width * width), precision)
    center = tl.where(lost != 0, float("nan"), center + (center - center))
    tl.store(term_at + place, tl.maximum(term, 0), inside)
    tl.store(center_at + place, center, inside)
    tl.store(precision_at + place, precision + (precision - precision), inside)
    tl.debug_barrier()
    last = tl.minimum(first + chunk, D)
    for start in range(0, B, BB):
        b = start + tl.arange(0, BB)
        total = tl.zeros((BB, BU), tl.float32)
        for here in range(first, last, 8):
            for step in tl.static_range(8):
                e = here + step
                row = tl.load(xt_at + e * B + b, (b < B) & (e < last), 0.0)
                own = (u < U) & (e < last)
                c = tl.load(center_at + e * U + u, own, 0.0)[None, :]
                s = tl.load(precision_at + e * U + u, own, 0.0)[None, :]
                away = _bounded(row, farthest)[:, None] - c
                total -= away * away * s
        at = tl.program_id(0) * B * U + b[:, None] * U + u[None, :]
        tl.store(out_at + at, total, (b < B)[:, None] & (u < U)[None, :])


@triton.jit
def fire_gradient(
    xt_at,
    g_at,
    score_at,
    mask_at,
    term_at,
    centers_at,
    raw_at,
    rate,
    of_x_at,
    of_logits_at,
    of_centers_at,
    of_precisions_at,
    floor,
    farthest,
    B,
    D,
    U,
    T: tl.constexpr,
    soft: tl.constexpr,
    BD: tl.constexpr,
    BU: tl.constexpr,
    BB: tl.constexpr,
):
    """Gradients of the logits, and parts of those of inputs, centres and precisions: one for each block of rules."""
    d = tl.program_id(0) * BD + tl.arange(0, BD)
    u = tl.program_id(1) * BU + tl.arange(0, BU)
    known = d < D
    inside = known[:, None] & (u < U)[None, :]
    place = d[:, None] * U + u[None, :]
    middle = tl.zeros((BD,), tl.float32)
    sets = tl.zeros((BD,), tl.float32)
    for t in range(T):
        exists = tl.load(mask_at + d * T + t, known, 0) != 0
        middle += tl.where(exists, tl.load(centers_at + d * T + t, known, 0.0), 0.0)
        sets += exists.to(tl.float32)
    middle = middle / tl.maximum(sets, 1.0)
    zeroth = tl.zeros((BU,), tl.float32)
    first = tl.zeros((BD, BU), tl.float32)
    second = tl.zeros((BD, BU), tl.float32)
    for start in range(0, B, BB):
        b = start + tl.arange(0, BB)
        rows = tl.load(xt_at + d[:, None] * B + b[None, :], known[:, None] & (b < B)[None, :], 0.0)
        x = tl.where((b < B)[None, :], _bounded(rows, farthest) - middle[:, None], 0.0)
        g = tl.load(g_at + b[:, None] * U + u[None, :], (b < B)[:, None] & (u < U)[None, :], 0.0)
        zeroth += tl.sum(g, axis=0)
        first = tl.dot(x, g, first, input_precision="tf32x3")
        second = tl.dot(x * x, g, second, input_precision="tf32x3")
    term = tl.load(term_at + place, inside, 0).to(tl.int32)
    greatest = tl.full((BD, BU), float("-inf"), tl.float32)
    if soft:
        lost = tl.zeros((BD, BU), tl.float32)
        for t in range(T):
            exists = tl.load(mask_at + d * T + t, known, 0)[:, None] != 0
            score = tl.load(score_at + t * D * U + place, inside, 0.0)
            lost = tl.where(exists & (score != score), float("nan"), lost)
            greatest = tl.where(exists & (score > greatest), score, greatest)
        greatest += lost
    total = tl.zeros((BD, BU), tl.float32)
    mean = tl.zeros((BD, BU), tl.float32)
    precision = tl.zeros((BD, BU), tl.float32)
    weighted = tl.zeros((BD, BU), tl.float32)
    part = (tl.program_id(1) * D + d) * T
    for t in range(T):
        exists = tl.load(mask_at + d * T + t, known, 0) != 0
        c = tl.where(exists, tl.load(centers_at + d * T + t, known, 0.0) - middle, 0.0)[:, None]
        width = floor + softplus(tl.load(raw_at + d * T + t, known, 0.0))
        s = tl.where(exists, 0.5 / (width * width), 0.0)
        slope = first - c * zeroth[None, :]
        square = second - c * (first + slope)
        chosen = (term == t) & inside
        used = chosen.to(tl.float32)
        tl.store(of_centers_at + part + t, tl.sum(slope * used, axis=1) * 2 * s, known)
        tl.store(of_precisions_at + part + t, -tl.sum(square * used, axis=1), known)
        precision = tl.where(chosen, s[:, None], precision)
        weighted = tl.where(chosen, s[:, None] * c, weighted)
        worth = tl.where(exists[:, None], -s[:, None] * square, 0.0)
        if soft:
            score = tl.load(score_at + t * D * U + place, inside, 0.0)
            weight = tl.where(exists[:, None], tl.exp((score - greatest) * rate), 0.0)
            total += weight
            mean += weight * worth
        else:
            tl.store(of_logits_at + t * D * U + place, worth, inside)
    if soft:
        mean /= total
        for t in range(T):
            exists = tl.load(mask_at + d * T + t, known, 0)[:, None] != 0
            c = tl.where(exists, tl.load(centers_at + d * T + t, known, 0.0)[:, None] - middle[:, None], 0.0)
            width = floor + softplus(tl.load(raw_at + d * T + t, known, 0.0))[:, None]
            slope = first - c * zeroth[None, :]
            square = second - c * (first + slope)
            # Behind a choice the product is rounded, as above: one term alone has a gradient of exactly 0.
            worth = tl.where(exists, -0.5 / (width * width) * square, 0.0)
            score = tl.load(score_at + t * D * U + place, inside, 0.0)
            value = (worth - mean) * (tl.exp((score - greatest) * rate) / total) * rate
            tl.store(of_logits_at + t * D * U + place, tl.where(exists, value, 0.0), inside)
    for start in range(0, B, BB):
        b = start + tl.arange(0, BB)
        g = tl.load(g_at + b[:, None] * U + u[None, :], (b < B)[:, None] & (u < U)[None, :], 0.0)
        rows = tl.load(xt_at + d[:, None] * B + b[None, :], known[:, None] & (b < B)[None, :], 0.0)
        x = _bounded(rows, farthest) - middle[:, None]
        flat = tl.dot(g, tl.trans(weighted), input_precision="tf32x3")
        steep = tl.dot(g, tl.trans(precision), input_precision="tf32x3")
        value = 2 * (flat - tl.trans(x) * steep)
        value = tl.where(tl.trans(tl.abs(rows) > farthest), 0.0, value)
        at = tl.program_id(1) * B * D + b[:, None] * D + d[None, :]
        tl.store(of_x_at + at, value, (b < B)[:, None] & known[None, :])


@triton.jit
def fire_finish(
    of_x_at,
    of_centers_at,
    of_precisions_at,
    raw_at,
    x_at,
    centers_at,
    raws_at,
    floor,
    parts,
    B,
    D,
    T,
    BB: tl.constexpr,
    BD: tl.constexpr,
    BT: tl.constexpr,
):
    """Sum the parts, and take the gradient of precisions to that of the raw widths."""
    d = tl.program_id(0) * BD + tl.arange(0, BD)
    b = tl.program_id(1) * BB + tl.arange(0, BB)
    inside = (b < B)[:, None] & (d < D)[None, :]
    total = tl.zeros((BB, BD), tl.float32)
    for part in range(parts):
        total += tl.load(of_x_at + part * B * D + b[:, None] * D + d[None, :], inside, 0.0)
    tl.store(x_at + b[:, None] * D + d[None, :], total, inside)
    if tl.program_id(1) == 0:
        t = tl.arange(0, BT)
        known = (d < D)[:, None] & (t < T)[None, :]
        at = d[:, None] * T + t[None, :]
        of_center = tl.zeros((BD, BT), tl.float32)
        of_precision = tl.zeros((BD, BT), tl.float32)
        for part in range(parts):
            of_center += tl.load(of_centers_at + part * D * T + at, known, 0.0)
            of_precision += tl.load(of_precisions_at + part * D * T + at, known, 0.0)
        raw = tl.load(raw_at + at, known, 0.0)
        width = floor + softplus(raw)
        tl.store(centers_at + at, of_center, known)
        tl.store(raws_at + at, -of_precision / (width * width * width) / (1 + tl.exp(-raw)), known)


@triton.jit
def norm_entmax15(
    w_at,
    gain_at,
    shift_at,
    levels_at,
    normed_at,
    spread_at,
    factor,
    eps,
    U,
    steps: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """1.5-entmax of the layer norm of a row times `factor`. Deviations in units of the greatest: none overflows."""
    row = tl.program_id(0)
    u = tl.arange(0, BLOCK)
    inside = u < U
    w = tl.load(w_at + row * U + u, inside, 0.0) * factor
    away = tl.where(inside, w - tl.sum(w, axis=0) / U, 0.0)
    away = tl.where(inside, away - tl.sum(away, axis=0) / U, 0.0)  # what the first mean lost by rounding
    unit = tl.maximum(tl.max(tl.abs(away), axis=0), 1e-15)
    share = away / unit
    spread = tl.rsqrt(tl.sum(share * share, axis=0) / U + eps / unit / unit) / unit
    normed = away * spread
    score = normed * tl.load(gain_at + u, inside, 0.0) + tl.load(shift_at + u, inside, 0.0)
    lost = tl.max((inside & (score != score)).to(tl.int32), axis=0)
    score = tl.where(inside, score, float("-inf"))
    z = (score - tl.max(score, axis=0)) * 0.5
    tau = tl.full((1,), -1.0, tl.float32)
    for _ in range(steps):
        above = tl.maximum(z - tau, 0.0)
        tau += (tl.sum(above * above, axis=0) - 1) / (2 * tl.sum(above, axis=0))
    above = tl.maximum(z - tau, 0.0)
    tl.store(levels_at + row * U + u, tl.where(lost > 0, float("nan"), above * above), inside)
    tl.store(normed_at + row * U + u, normed, inside)
    tl.store(spread_at + row, spread)


@triton.jit
def norm_entmax15_gradient(
    g_at, levels_at, normed_at, spread_at, gain_at, of_w_at, of_score_at, factor, U, BLOCK: tl.constexpr
):
    """Gradients of the row, and of what entmax got."""
    row = tl.program_id(0)
    u = tl.arange(0, BLOCK)
    inside = u < U
    g = tl.load(g_at + row * U + u, inside, 0.0)
    slope = tl.sqrt(tl.load(levels_at + row * U + u, inside, 0.0))
    of_score = slope * (g - tl.sum(slope * g, axis=0) / tl.sum(slope, axis=0))
    normed = tl.load(normed_at + row * U + u, inside, 0.0)
    of_normed = of_score * tl.load(gain_at + u, inside, 0.0)
    lean = tl.sum(of_normed * normed, axis=0) / U
    of_w = (of_normed - tl.sum(of_normed, axis=0) / U - normed * lean) * tl.load(spread_at + row) * factor
    tl.store(of_w_at + row * U + u, of_w, inside)
    tl.store(of_score_at + row * U + u, of_score, inside)


@triton.jit
def columns(of_score_at, normed_at, of_gain_at, of_shift_at, B, U, BB: tl.constexpr, BU: tl.constexpr):
    """Gradients of gain and shift: sums over the rows."""
    u = tl.program_id(0) * BU + tl.arange(0, BU)
    gain = tl.zeros((BU,), tl.float32)
    shift = tl.zeros((BU,), tl.float32)
    for start in range(0, B, BB):
        b = start + tl.arange(0, BB)
        inside = (b < B)[:, None] & (u < U)[None, :]
        score = tl.load(of_score_at + b[:, None] * U + u[None, :], inside, 0.0)
        normed = tl.load(normed_at + b[:, None] * U + u[None, :], inside, 0.0)
        gain += tl.sum(score * normed, axis=0)
        shift += tl.sum(score, axis=0)
    tl.store(of_gain_at + u, gain, u < U)
    tl.store(of_shift_at + u, shift, u < U)
