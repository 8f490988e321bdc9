"""Log-firing and its gradients on an NVIDIA GPU, from parameters to parameters.

What the other kernels compute in turn, with all that eager PyTorch would launch in between: bounds of the input, noise,
widths, origins. Single precision; differences are formed before they are squared, and products of matrices are three of
reduced precision each (tf32x3), on values that are measured from the middle of the sets.

DP, BP and UP are D, B and U filled up to whole blocks: what is read over and over needs no bounds then, and a step from
one attribute to the next is a number that the compiler knows. All terms are loaded before anything is stored, since a
load waits for every store that may have gone to the same place.
"""

# mypy: ignore-errors

from __future__ import annotations

import triton
import triton.language as tl

from .triton_kernels import mixed, mixed_seed, softplus, uniform_of

_GOLDEN = tl.constexpr(0x9E3779B97F4A7C15)


@triton.jit
def _bounded(x, farthest):
    """The input within its bounds; NaN where it is not finite."""
    within = tl.minimum(tl.maximum(x, -farthest), farthest)
    return tl.where((x - x) == 0, within, float("nan"))


@triton.jit
def _middle(exists, centers):
    """The mean centre of the sets of each attribute, (BD,) of (BD, BT)."""
    count = tl.sum(exists.to(tl.float32), axis=1)
    return tl.sum(tl.where(exists, centers, 0.0), axis=1) / tl.maximum(count, 1.0)


@triton.jit
def prepare(
    x_at,
    mask_at,
    centers_at,
    raw_at,
    bounded_at,
    away_at,
    middle_at,
    precisions_at,
    floor,
    farthest,
    B,
    D,
    BP,
    T: tl.constexpr,
    BT: tl.constexpr,
    BB: tl.constexpr,
    BD: tl.constexpr,
):
    """Bounded inputs (DP, BP), as they are and from the middle of the sets; these middles (DP,); precisions (D, T)."""
    d = tl.program_id(0) * BD + tl.arange(0, BD)
    b = tl.program_id(1) * BB + tl.arange(0, BB)
    t = tl.arange(0, BT)
    at = d[:, None] * T + t[None, :]
    known = (d < D)[:, None] & (t < T)[None, :]
    exists = tl.load(mask_at + at, known, 0) != 0
    centers = tl.load(centers_at + at, known, 0.0)
    raw = tl.load(raw_at + at, known, 0.0)
    inside = (b < B)[:, None] & (d < D)[None, :]
    x = tl.load(x_at + b[:, None] * D + d[None, :], inside, 0.0)
    middle = _middle(exists, centers)
    x = tl.trans(_bounded(x, farthest))
    place = d[:, None] * BP + b[None, :]
    tl.store(bounded_at + place, x)
    tl.store(away_at + place, tl.where(tl.trans(inside), x - middle[:, None], 0.0))
    if tl.program_id(1) == 0:
        width = floor + softplus(raw)
        tl.store(precisions_at + at, 0.5 / (width * width), known)
        tl.store(middle_at + d, middle)


@triton.jit
def fire(
    bounded_at,
    logits_at,
    mask_at,
    centers_at,
    precisions_at,
    seed_at,
    draw_at,
    scale,
    fall,
    score_at,
    term_at,
    center_at,
    precision_at,
    out_at,
    B,
    D,
    U,
    BP,
    UP,
    T: tl.constexpr,
    noisy: tl.constexpr,
    BD: tl.constexpr,
    BU: tl.constexpr,
    BB: tl.constexpr,
    STEP: tl.constexpr,
):
    """Choose the premises of a block of attributes and rules, then `-sum_d S (x - C)**2` over these attributes."""
    first = tl.program_id(0) * BD
    d = first + tl.arange(0, BD)
    known = d < D
    u = tl.program_id(1) * BU + tl.arange(0, BU)
    inside = known[:, None] & (u < U)[None, :]
    place = d[:, None] * U + u[None, :]
    loaded = (0,)
    for t in tl.static_range(T):
        loaded += (tl.load(logits_at + t * D * U + place, inside, 0.0),)
    best = tl.full((BD, BU), float("-inf"), tl.float32)
    term = tl.full((BD, BU), -1, tl.int32)
    lost = tl.zeros((BD, BU), tl.int32)
    center = tl.full((BD, BU), float("nan"), tl.float32)
    precision = tl.zeros((BD, BU), tl.float32)
    if noisy:
        draw = tl.load(draw_at)
        seed = mixed_seed(tl.load(seed_at), draw)
        strength = scale * tl.maximum(1 - draw.to(tl.float32) * fall, 0.0)
        state = seed + (place.to(tl.uint64) + 1) * _GOLDEN
        stride = tl.full((1, 1), D * U, tl.uint64) * _GOLDEN
    for t in tl.static_range(T):
        exists = tl.load(mask_at + d * T + t, known, 0)[:, None] != 0
        c = tl.load(centers_at + d * T + t, known, 0.0)[:, None]
        s = tl.load(precisions_at + d * T + t, known, 0.0)[:, None]
        score = loaded[t + 1]
        if noisy:
            score += -tl.log(-tl.log(uniform_of(mixed(state)))) * strength
            state += stride
            tl.store(score_at + t * D * U + place, score, inside)
        lost |= (exists & (score != score)).to(tl.int32)
        better = exists & ((term < 0) | (score > best))
        best = tl.where(better, score, best)
        term = tl.where(better, t, term)
        center = tl.where(better, c, center)
        precision = tl.where(better, s, precision)
    center = tl.where(lost != 0, float("nan"), center + (center - center))
    tl.store(term_at + place, tl.maximum(term, 0), inside)
    wide = d[:, None] * UP + u[None, :]
    tl.store(center_at + wide, tl.where(inside, center, 0.0))
    tl.store(precision_at + wide, tl.where(inside, precision + (precision - precision), 0.0))
    tl.debug_barrier()
    for start in range(0, BP, BB):
        b = start + tl.arange(0, BB)
        total = tl.zeros((BB, BU), tl.float32)
        for here in range(0, BD, STEP):
            x_here = bounded_at + (first + here) * BP + b
            center_here = center_at + (first + here) * UP + u
            precision_here = precision_at + (first + here) * UP + u
            for step in tl.static_range(STEP):
                away = tl.load(x_here + step * BP)[:, None] - tl.load(center_here + step * UP)[None, :]
                total -= away * away * tl.load(precision_here + step * UP)[None, :]
        at = tl.program_id(0) * B * U + b[:, None] * U + u[None, :]
        tl.store(out_at + at, total, (b < B)[:, None] & (u < U)[None, :])


@triton.jit
def sum_parts(parts_at, out_at, parts, count, PARTS: tl.constexpr, BLOCK: tl.constexpr):
    """The sum of the parts (parts, count)."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, parts, PARTS):
        part = start + tl.arange(0, PARTS)[:, None]
        inside = (part < parts) & (at < count)[None, :]
        total += tl.sum(tl.load(parts_at + part * count + at[None, :], inside, 0.0), axis=0)
    tl.store(out_at + at, total, at < count)


@triton.jit
def fire_gradient(
    away_at,
    g_at,
    score_at,
    mask_at,
    term_at,
    centers_at,
    precisions_at,
    middle_at,
    rate,
    of_logits_at,
    of_centers_at,
    of_precisions_at,
    B,
    D,
    U,
    BP,
    T: tl.constexpr,
    soft: tl.constexpr,
    BD: tl.constexpr,
    BU: tl.constexpr,
    STEP: tl.constexpr,
):
    """Gradients of the logits, and parts of those of centres and precisions: one for each block of rules."""
    d = tl.program_id(0) * BD + tl.arange(0, BD)
    u = tl.program_id(1) * BU + tl.arange(0, BU)
    known = d < D
    inside = known[:, None] & (u < U)[None, :]
    place = d[:, None] * U + u[None, :]
    scores = (0,)
    if soft:
        for t in tl.static_range(T):
            scores += (tl.load(score_at + t * D * U + place, inside, 0.0),)
    term = tl.load(term_at + place, inside, 0).to(tl.int32)
    middle = tl.load(middle_at + d)
    # Moments of the gradient, zero at first. Said in this way, they lie in the registers as what is loaded does, and
    # need not be laid out anew for every term.
    zeroth = tl.zeros((BU,), tl.float32)
    first = tl.where(term < 0, 1.0, 0.0)
    second = first
    for start in range(0, B, STEP):
        x_here = away_at + d * BP + start
        g_here = g_at + start * U + u
        for step in tl.static_range(STEP):
            x = tl.load(x_here + step)[:, None]
            g = tl.load(g_here + step * U, (u < U) & (start + step < B), 0.0)
            zeroth += g
            first += x * g[None, :]
            second += x * x * g[None, :]
    greatest = tl.full((BD, BU), float("-inf"), tl.float32)
    if soft:
        lost = tl.zeros((BD, BU), tl.float32)
        for t in tl.static_range(T):
            there = (tl.load(mask_at + d * T + t, known, 0) != 0)[:, None]
            lost = tl.where(there & (scores[t + 1] != scores[t + 1]), float("nan"), lost)
            greatest = tl.where(there & (scores[t + 1] > greatest), scores[t + 1], greatest)
        greatest += lost
    total = tl.zeros((BD, BU), tl.float32)
    mean = tl.zeros((BD, BU), tl.float32)
    part = (tl.program_id(1) * D + d) * T
    weights = (0,)
    worths = (0,)
    for t in tl.static_range(T):
        exists = tl.load(mask_at + d * T + t, known, 0) != 0
        c = tl.where(exists, tl.load(centers_at + d * T + t, known, 0.0) - middle, 0.0)[:, None]
        s = tl.where(exists, tl.load(precisions_at + d * T + t, known, 0.0), 0.0)
        slope = first - c * zeroth[None, :]
        square = second - c * (first + slope)
        used = ((term == t) & inside).to(tl.float32)
        tl.store(of_centers_at + part + t, tl.sum(slope * used, axis=1) * 2 * s, known)
        tl.store(of_precisions_at + part + t, -tl.sum(square * used, axis=1), known)
        worth = tl.where(exists[:, None], -s[:, None] * square, 0.0)
        if soft:
            weight = tl.where(exists[:, None], tl.exp((scores[t + 1] - greatest) * rate), 0.0)
            total += weight
            mean += weight * worth
            weights += (weight,)
            worths += (worth,)
        else:
            tl.store(of_logits_at + t * D * U + place, worth, inside)
    if soft:
        mean /= total
        share = rate / total
        for t in tl.static_range(T):
            there = (tl.load(mask_at + d * T + t, known, 0) != 0)[:, None]
            value = (worths[t + 1] - mean) * (weights[t + 1] * share)
            tl.store(of_logits_at + t * D * U + place, tl.where(there, value, 0.0), inside)


@triton.jit
def fire_inputs(
    x_at,
    g_at,
    center_at,
    precision_at,
    middle_at,
    raw_at,
    of_centers_at,
    of_precisions_at,
    x_gradient_at,
    center_gradient_at,
    raw_gradient_at,
    floor,
    farthest,
    parts,
    B,
    D,
    U,
    UP,
    T: tl.constexpr,
    BT: tl.constexpr,
    BD: tl.constexpr,
    BU: tl.constexpr,
    BB: tl.constexpr,
):
    """Gradients of the inputs; those of the centres, summed over their parts; and of precisions, as of raw widths."""
    d = tl.program_id(0) * BD + tl.arange(0, BD)
    b = tl.program_id(1) * BB + tl.arange(0, BB)
    middle = tl.load(middle_at + d)
    flat = tl.zeros((BB, BD), tl.float32)
    steep = tl.zeros((BB, BD), tl.float32)
    for start in range(0, U, BU):
        u = start + tl.arange(0, BU)
        g = tl.load(g_at + b[:, None] * U + u[None, :], (b < B)[:, None] & (u < U)[None, :], 0.0)
        wide = d[None, :] * UP + u[:, None]
        s = tl.load(precision_at + wide)
        c = tl.load(center_at + wide)
        flat = tl.dot(g, s * (c - middle[None, :]), flat, input_precision="tf32x3")
        steep = tl.dot(g, s, steep, input_precision="tf32x3")
    inside = (b < B)[:, None] & (d < D)[None, :]
    place = b[:, None] * D + d[None, :]
    x = tl.load(x_at + place, inside, 0.0)
    value = 2 * (flat - (_bounded(x, farthest) - middle[None, :]) * steep)
    tl.store(x_gradient_at + place, tl.where(tl.abs(x) > farthest, 0.0, value), inside)
    if tl.program_id(1) == 0:
        t = tl.arange(0, BT)
        at = d[:, None] * T + t[None, :]
        known = (d < D)[:, None] & (t < T)[None, :]
        of_center = tl.zeros((BD, BT), tl.float32)
        of_precision = tl.zeros((BD, BT), tl.float32)
        for part in range(parts):
            of_center += tl.load(of_centers_at + part * D * T + at, known, 0.0)
            of_precision += tl.load(of_precisions_at + part * D * T + at, known, 0.0)
        raw = tl.load(raw_at + at, known, 0.0)
        width = floor + softplus(raw)
        tl.store(center_gradient_at + at, of_center, known)
        tl.store(raw_gradient_at + at, -of_precision / (width * width * width) / (1 + tl.exp(-raw)), known)
