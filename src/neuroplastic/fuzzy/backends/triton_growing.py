"""Births of fuzzy sets on an NVIDIA GPU: one kernel for what `growing.grow` does in dozens of small steps."""

# mypy: ignore-errors

from __future__ import annotations

import triton
import triton.language as tl

from .triton_kernels import _uniform, mixed_seed, softplus


@triton.jit
def _raw_from_widths(width, floor):
    """`raw_from_widths`: what softplus makes the width of. `1 - exp(-e)` by its series where it would cancel."""
    e = tl.maximum(width - floor, floor)
    series = e * (1 - e / 2 * (1 - e / 3 * (1 - e / 4 * (1 - e / 5 * (1 - e / 6 * (1 - e / 7))))))
    return e + tl.log(tl.where(e < 0.3, series, 1 - tl.exp(-e)))


@triton.jit
def observe(
    x_at,
    centers_at,
    raw_at,
    mask_at,
    logits_at,
    count_at,
    mean_at,
    m2_at,
    seed_at,
    batches_at,
    full_at,
    step_at,
    born_at,
    limit,
    farthest,
    widest,
    floor,
    delay,
    min_count,
    min_width,
    deviation,
    B,
    D,
    T,
    U,
    drawn: tl.constexpr,
    BB: tl.constexpr,
    BT: tl.constexpr,
    BU: tl.constexpr,
):
    """Merge the uncovered values of an attribute into its statistics, and let a set be born where it is time."""
    d = tl.program_id(0).to(tl.int64)
    t = tl.arange(0, BT)
    number = mean_at.dtype.element_ty
    exists = tl.load(mask_at + d * T + t, t < T, 0) != 0
    c = tl.load(centers_at + d * T + t, t < T, 0.0).to(number)
    width = floor + softplus(tl.load(raw_at + d * T + t, t < T, 0.0).to(number))
    s = 0.5 / (width * width)
    covers = exists & (((c - c) + (s - s)) == 0) & (width < widest)
    count = tl.load(count_at + d)
    mean = tl.load(mean_at + d)
    m2 = tl.load(m2_at + d)
    # All rows that one batch has are counted first, as the host does, and merged then.
    counted = tl.zeros((), number)
    here = tl.zeros((), number)
    squares = tl.zeros((), number)
    for start in range(0, B, BB):
        b = start + tl.arange(0, BB)
        x = tl.load(x_at + b * D + d, b < B, float("nan")).to(number)
        x = tl.where((x - x) == 0, x, float("nan"))  # infinite ones are no observations either
        x = tl.where(tl.abs(x) > farthest, tl.where(x > 0, farthest, -farthest), x)
        away = x[:, None] - c[None, :]
        nearest = tl.min(tl.where(covers[None, :], away * away * s[None, :], float("inf")), axis=1)
        fails = (b < B) & (x == x) & (nearest > limit)
        rows = tl.sum(fails.to(number), axis=0)
        middle = tl.sum(tl.where(fails, x, 0.0), axis=0) / tl.maximum(rows, 1.0)
        spread = tl.where(fails, x - middle, 0.0)
        part = rows / tl.maximum(counted + rows, 1.0)
        delta = middle - here
        squares += tl.sum(spread * spread, axis=0) + delta * delta * counted * part
        here += delta * part
        counted += rows
    share = counted / tl.maximum(count + counted, 1.0)
    delta = here - mean
    m2 += squares + delta * delta * count * share
    mean += delta * share
    count += counted
    batches = tl.load(batches_at)
    asking = (batches % delay == 0) & (count >= min_count)
    slot = tl.min(tl.where((t < T) & (exists == 0), t, T), axis=0)
    tl.store(count_at + d, tl.where(asking, 0.0, count))
    tl.store(mean_at + d, tl.where(asking, 0.0, mean))
    tl.store(m2_at + d, tl.where(asking, 0.0, m2))
    if asking & (slot == T):
        tl.atomic_max(full_at, D - d)
    if asking & (slot < T):
        born = tl.maximum(tl.sqrt(m2 / tl.maximum(count, 1.0)), min_width)
        at = d * T + slot
        tl.store(centers_at + at, mean.to(centers_at.dtype.element_ty))
        tl.store(raw_at + at, _raw_from_widths(born, floor).to(raw_at.dtype.element_ty))
        tl.store(mask_at + at, 1)
        tl.store(step_at + at, batches)
        tl.store(born_at + at, mean)
        tl.store(born_at + D * T + at, born)
        tl.store(born_at + 2 * D * T + at, count)
        seed = mixed_seed(tl.load(seed_at), -batches)
        for start in range(0, U, BU):
            u = start + tl.arange(0, BU)
            if drawn:
                position = (d * U + u) * 2
                first, second = _uniform(seed, position), _uniform(seed, position + 1)
                value = tl.sqrt(-2 * tl.log(first)) * tl.cos(6.283185307179586 * second) * deviation
            else:
                value = tl.full((BU,), float("-inf"), tl.float64)
                for other in range(T):
                    here_exists = tl.sum(tl.where(t == other, exists.to(tl.int32), 0), axis=0) > 0
                    logit = tl.load(logits_at + (other * D + d) * U + u, u < U, 0.0).to(tl.float64)
                    value = tl.where(here_exists & (logit > value), logit, value)
            tl.store(logits_at + (slot * D + d) * U + u, value.to(logits_at.dtype.element_ty), u < U)
