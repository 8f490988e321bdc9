"""Where one rule's score overtakes another's along one attribute: first sign changes of `Q(z) + delta S(z)`.

Along a line every log-firing is a parabola, so the gap of two scores, times the layer norm's deviation S, is a
parabola Q plus `delta S(z)`, where `S**2 = V` has degree 4 (without layer norm, S is 1). Its zeros are among those
of `Q**2 - delta**2 V`. These only serve to cut the line into pieces: which piece has which sign is found by looking.
"""

from __future__ import annotations

import numpy as np

from ..rule_base import Numbers

# Halvings that take a bracket to the last digits of a double.
HALVINGS = 60
PRECISION = 4e-16
_TINY = 1e-300


def gap(q: Numbers, delta: Numbers, v: Numbers | None, z: Numbers) -> Numbers:
    """`Q(z) + delta S(z)` for coefficients q (N, 3) and v (N, 5), lowest power first; z is (N, ...)."""
    spread: Numbers = np.ones_like(z) if v is None else np.sqrt(np.maximum(polynomial(v, z), 0))
    return polynomial(q, z) + _beside(delta, z) * spread


def polynomial(coefficients: Numbers, z: Numbers) -> Numbers:
    """Values of polynomials (N, degree + 1), lowest power first, at z (N, ...)."""
    value: Numbers = _beside(coefficients[:, -1], z)
    for power in range(coefficients.shape[1] - 2, -1, -1):
        value = value * z + _beside(coefficients[:, power], z)
    return value


def _beside(numbers: Numbers, z: Numbers) -> Numbers:
    """(N,) made to line up with z (N, ...)."""
    return numbers.reshape(numbers.shape + (1,) * (z.ndim - 1))


def no_zero_within(q: Numbers, delta: Numbers, v: Numbers) -> Numbers:
    """A distance from z = 0 within which the gap has no zero, (N,): cheap, and less than the truth.

    Fujiwara's bound on the zeros of the polynomial in 1 / z.
    """
    f = _quartic(q, delta, v)
    ratio = np.abs(f[:, 1:]) / np.maximum(np.abs(f[:, :1]), _TINY)
    largest = np.maximum.reduce(
        [ratio[:, 0], np.sqrt(ratio[:, 1]), np.cbrt(ratio[:, 2]), np.sqrt(np.sqrt(ratio[:, 3]))]
    )
    radius: Numbers = 0.5 / np.maximum(largest, _TINY)
    return radius


def first_crossing(q: Numbers, delta: Numbers, v: Numbers | None, start: Numbers, sign: Numbers) -> Numbers:
    """The least distance beyond `start` at which the gap, below 0 at `start`, reaches 0, (N,); inf if it never does.

    Distances are counted from z = 0 in the direction `sign` (N,), 1 or -1.
    """
    q = q * sign[:, None] ** np.arange(3)
    v = None if v is None else v * sign[:, None] ** np.arange(5)
    cuts = _cuts(q, delta, v, start)
    edges = np.concatenate([start[:, None], cuts], axis=1)
    known = np.isfinite(edges)
    after = np.concatenate([edges[:, 1:], np.full((len(edges), 1), np.inf)], axis=1)
    with np.errstate(invalid="ignore"):
        middle = np.where(np.isfinite(after), (edges + after) / 2, 2 * edges + 1)
    middle = np.where(known, middle, 0.0)
    reached = (gap(q, delta, v, middle) >= 0) & known
    piece = reached.argmax(axis=1)
    rows = np.arange(len(q))
    found = reached.any(axis=1)
    result = np.where(found, edges[rows, piece], np.inf)
    # Zeros of a parabola are right to the last digits as they are, unless one fell just short of the start.
    rough = found if v is not None else found & (piece == 0)
    if rough.any():
        high = middle[rows, piece][rough]
        low = np.where(piece > 0, middle[rows, np.maximum(piece - 1, 0)], start)[rough]
        part = None if v is None else v[rough]
        result[rough] = _narrowed(q[rough], delta[rough], part, low, high, result[rough])
    return result


def _narrowed(
    q: Numbers, delta: Numbers, v: Numbers | None, low: Numbers, high: Numbers, guess: Numbers
) -> Numbers:
    """The zero between low (gap below 0) and high (gap at least 0); the upper end of the last bracket.

    Tried first around the guess, ever closer, then by halving.
    """
    for step in range(-6, HALVINGS):
        if step < 0:
            offset = 10.0 ** -(6 + 3 * ((step + 6) // 2))
            trial = np.clip(guess * (1 + (offset if step % 2 else -offset)), low, high)
        else:
            trial = (low + high) / 2
        above = gap(q, delta, v, trial) >= 0
        low, high = np.where(above, low, trial), np.where(above, trial, high)
        if step >= 0 and bool((high - low <= PRECISION * np.abs(high)).all()):
            break
    return high


def _cuts(q: Numbers, delta: Numbers, v: Numbers | None, start: Numbers) -> Numbers:
    """Points beyond `start`, sorted, (N, 2 or 4), among which are all zeros of the gap there; inf where fewer."""
    plain = np.ones(len(q), dtype=bool) if v is None else delta == 0
    cuts = np.full((len(q), 2 if v is None else 4), np.inf)
    constant = q[plain, 0] + (delta[plain] if v is None else 0.0)
    cuts[plain, :2] = quadratic_zeros(constant, q[plain, 1], q[plain, 2]).T
    if v is not None and not plain.all():
        cuts[~plain] = _quartic_zeros(_quartic(q[~plain], delta[~plain], v[~plain]))
    cuts[~(cuts > start[:, None])] = np.inf
    cuts.sort(axis=1)
    return cuts


def _quartic(q: Numbers, delta: Numbers, v: Numbers) -> Numbers:
    """Coefficients (N, 5) of `Q**2 - delta**2 V`."""
    a, b, c = q.T
    square = np.stack([a * a, 2 * a * b, b * b + 2 * a * c, 2 * b * c, c * c], axis=1)
    return square - (delta**2)[:, None] * v


def quadratic_zeros(a: Numbers, b: Numbers, c: Numbers) -> Numbers:
    """Real zeros (2, ...) of `a + b z + c z**2` without cancellation; inf where there is none."""
    inside = b * b - 4 * a * c
    with np.errstate(divide="ignore", invalid="ignore"):
        sum_ = -0.5 * (b + np.copysign(np.sqrt(inside), b))
        zeros = np.stack([a / sum_, sum_ / c])
    return np.where(np.isfinite(zeros), zeros, np.inf)


def _quartic_zeros(f: Numbers) -> Numbers:
    """Real parts of the zeros (N, 4) of polynomials f (N, 5), by eigenvalues in 1 / z, where lower degrees are 0.

    Those of complex zeros are cuts too many, which do no harm. Coefficients beyond what doubles hold have none.
    """
    f = np.where(np.isfinite(f).all(axis=1, keepdims=True), f, 0.0)
    companion = np.zeros((len(f), 4, 4))
    companion[:, 1, 0] = companion[:, 2, 1] = companion[:, 3, 2] = 1.0
    lead = np.where(np.abs(f[:, 0]) > _TINY, f[:, 0], _TINY)
    companion[:, 0] = np.clip(-f[:, 1:] / lead[:, None], -1e150, 1e150)
    inverse = np.linalg.eigvals(companion)
    with np.errstate(divide="ignore", invalid="ignore"):
        zeros = (1 / inverse).real
    return np.where(np.isfinite(zeros), zeros, np.inf)
