"""Layer norm with entmax, and its gradients, on an NVIDIA GPU: a program for each row, in single precision."""

# mypy: ignore-errors

from __future__ import annotations

import triton
import triton.language as tl


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
    gain = tl.load(gain_at + u, inside, 0.0)
    shift = tl.load(shift_at + u, inside, 0.0)
    away = tl.where(inside, w - tl.sum(w, axis=0) / U, 0.0)
    away = tl.where(inside, away - tl.sum(away, axis=0) / U, 0.0)  # what the first mean lost by rounding
    unit = tl.maximum(tl.max(tl.abs(away), axis=0), 1e-15)
    share = away / unit
    spread = tl.rsqrt(tl.sum(share * share, axis=0) / U + eps / unit / unit) / unit
    normed = away * spread
    score = normed * gain + shift
    lost = tl.max((inside & (score != score)).to(tl.int32), axis=0)
    score = tl.where(inside, score, float("-inf"))
    z = (score - tl.max(score, axis=0)) * 0.5
    # Newton's steps, as in `entmax15`. As many for all: sums of two threads may differ in the last bit, and none may
    # leave while the others still add up what it holds.
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
