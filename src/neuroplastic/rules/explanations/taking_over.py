"""What would have to change for another rule to fire strongest: the smallest change of a single attribute."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...errors import ConfigError
from ..rule_base import Indices, Numbers
from ..scores import norm_variance
from .crossing import first_crossing, gap, no_zero_within
from .limits import Limits
from .scoring import Scoring, bounded
from .worst_changes import nearest_place

# Rows times attributes that are searched at once.
NUMBERS_AT_ONCE = 1 << 21
# Changes that are looked at in one round of the search.
PLACES_AT_ONCE = 1 << 11
# A change of more steps than this is none: it would lead far beyond anything the sets know.
MOST_STEPS = 1e4
# A gap below this part of the scores' magnitude is a tie; layer norm makes scores of magnitude 1 of any log-firings.
TIE = 1e-10
TIE_NORMALISED = 1e-6
# A crossing that is beyond the last one by less than this part of it is the same one.
STUCK = 1e-12
# What the bound of a change is: less than the distance to the first crossing, that distance, or the answer.
LOWER, CROSSING, SETTLED = 0, 1, 2


@dataclass(frozen=True)
class Change:
    """A rule takes over when one attribute goes from `value` past `to`, and no smaller change does it.

    Changes of different attributes are compared in `steps`: mean widths of the attribute's own sets.
    """

    attribute: int
    value: float
    to: float
    steps: float
    words: str | None = None
    """of a category, which changes as a whole: what it would have to be"""


def nearest_changes(
    scoring: Scoring, x: Numbers, rules: Indices, limits: Limits | None = None
) -> tuple[Change | None, ...]:
    """For each observation of x (B, D) the smallest change that makes its rule (B,) fire strongest, if any does.

    Exact: along each attribute and direction the first point where the rule overtakes the one in its way is a
    bound on the change. The least bound of all is looked at; if a third rule is in the way there, its bound
    moves on, else it is the answer. A rule that is strongest already needs a change of 0. A change of more than
    10,000 steps does not count, nor one that leads beyond the limits. Rules compared by their worst premise must not
    be normalised among each other: then a ConfigError says that no change is searched for.
    """
    if scoring.worst:
        return tuple(
            _worst_change(scoring, row, rule, limits)
            for row, rule in zip(bounded(x), rules.tolist(), strict=True)
        )
    size = max(1, NUMBERS_AT_ONCE // max(1, x.shape[1]))
    found: list[Change | None] = []
    for start in range(0, len(x), size):
        rows = slice(start, start + size)
        found += _Search(scoring, bounded(x[rows]), rules[rows], limits).run()
    return tuple(found)


def _worst_change(scoring: Scoring, x: Numbers, rule: int, limits: Limits | None) -> Change | None:
    if scoring.layer_norm:
        raise ConfigError(
            "the smallest change that lets a rule take over is not searched for where rules are compared by their "
            "worst premise and normalised; train with npl.Firing(reduce='worst', layer_norm=False)"
        )
    most: float | Numbers = MOST_STEPS
    if limits is not None:
        most = np.minimum(limits.reach(x[None], scoring.unit).reshape(2, 1, -1), MOST_STEPS)
    found = nearest_place(scoring, x, rule, most)
    if found is None:
        return None
    i, z = found
    value = float(x[i])
    return Change(i, value, value + z, abs(z) / float(scoring.unit[i]))


class _Search:
    """The search for a batch. Along attribute i, `z` counts steps from the observation's value: the log-firings
    are `w0 + L z - P z**2`, and the layer norm's variance V is a polynomial of degree 4."""

    def __init__(self, scoring: Scoring, x: Numbers, rules: Indices, limits: Limits | None) -> None:
        self.scoring, self.x, self.rules = scoring, x, rules
        self.batch = np.arange(len(x))
        self.reach = None if limits is None else limits.reach(x, scoring.unit)
        self.w = scoring.log_firing(x)
        self.square = scoring.precision * scoring.unit**2
        origin = scoring.center.mean(axis=0)
        self.center = (scoring.center - origin) / scoring.unit
        self.value = (x - origin) / scoring.unit
        self.mean_square = self.square.mean(axis=0)
        self.mean_moment = (self.square * self.center).mean(axis=0)
        self.variance = self._variance() if scoring.layer_norm else None

    def _variance(self) -> Numbers:
        """Coefficients of V along every attribute, (B, D, 5), by matrix products over the rules."""
        count = len(self.square)
        d = self.w - self.w.mean(axis=1, keepdims=True)
        square = self.square - self.mean_square
        moment = self.square * self.center - self.mean_moment
        ss, sm, mm = ((a * b).mean(axis=0) for a, b in ((square, square), (square, moment), (moment, moment)))
        t = self.value
        d_square, d_moment = d @ square / count, d @ moment / count
        v = np.empty((*t.shape, 5))
        v[..., 0] = norm_variance(self.w)[:, None]
        v[..., 1] = -4 * (t * d_square - d_moment)
        v[..., 2] = 4 * (t * t * ss - 2 * t * sm + mm) - 2 * d_square
        v[..., 3] = 4 * (t * ss - sm)
        v[..., 4] = ss
        return v

    def run(self) -> list[Change | None]:
        """The changes, one for each observation."""
        scoring = self.scoring
        scores = scoring.scores(self.w)
        mine = scores[self.batch, self.rules]
        scores[self.batch, self.rules] = -np.inf
        rivals = scores.argmax(axis=1)
        best: list[Change | None] = [None] * len(self.x)
        behind = mine < scores[self.batch, rivals]
        for row in np.flatnonzero(~behind).tolist():  # a tie that only rounding has decided
            best[row] = Change(0, float(self.x[row, 0]), float(self.x[row, 0]), 0.0)
        active = np.flatnonzero(behind)
        self._first_bounds(active, rivals)
        while len(active):
            rows, places = self._nearest_open(active)
            sharp = self.state[rows, places] == CROSSING
            self._check(rows[sharp], places[sharp])
            self._sharpen(rows[~sharp], places[~sharp])
            place = self.bound[active].argmin(axis=1)
            settled = self.state[active, place] == SETTLED
            for row, where in zip(active[settled].tolist(), place[settled].tolist(), strict=True):
                best[row] = self._change(row, where)
            active = active[~settled & np.isfinite(self.bound[active, place])]
        return best

    def _nearest_open(self, active: Indices) -> tuple[Indices, Indices]:
        """Of each active row the places of least bound that are not settled, several when rows are few."""
        bound = self.bound[active]
        count = min(max(1, PLACES_AT_ONCE // len(active)), bound.shape[1])
        places = np.argpartition(bound, count - 1, axis=1)[:, :count]
        rows = np.repeat(active, count)
        found = places.reshape(-1)
        open_ = np.isfinite(self.bound[rows, found]) & (self.state[rows, found] != SETTLED)
        return rows[open_], found[open_]

    def _change(self, row: int, place: int) -> Change:
        attribute, sign = self._direction(np.array([place]))
        i, value, steps = int(attribute[0]), float(self.x[row, attribute[0]]), float(self.bound[row, place])
        return Change(i, value, value + float(sign[0]) * steps * float(self.scoring.unit[i]), steps)

    def _direction(self, place: Indices) -> tuple[Indices, Numbers]:
        """Attribute and sign of places in the (B, 2 D) table of bounds: up for the first half, then down."""
        attributes = self.x.shape[1]
        return place % attributes, np.where(place < attributes, 1.0, -1.0)

    def _gap(self, rows: Indices, i: Indices, rival: Indices) -> tuple[Numbers, Numbers, Numbers | None]:
        """Coefficients of the gap between each row's rule and a rival along attribute i, each (N, ...)."""
        scoring, mine = self.scoring, self.rules[rows]
        mean = self.w[rows].mean(axis=1) if scoring.layer_norm else np.zeros(len(rows))
        t = self.value[rows, i]
        mean_square = self.mean_square[i] if scoring.layer_norm else np.zeros(len(rows))
        mean_line = -2 * (t * mean_square - self.mean_moment[i]) if scoring.layer_norm else mean_square
        q = np.zeros((len(rows), 3))
        for rule, side in ((mine, 1.0), (rival, -1.0)):
            slope, square = side * scoring.slope[rule], self.square[rule, i]
            q[:, 0] += slope * (self.w[rows, rule] - mean)
            q[:, 1] += slope * (-2 * square * (t - self.center[rule, i]) - mean_line)
            q[:, 2] -= slope * (square - mean_square)
        v = None if self.variance is None else self.variance[rows, i]
        return q, scoring.level[mine] - scoring.level[rival], v

    def _first_bounds(self, rows: Indices, rivals: Indices) -> None:
        """Bounds (B, 2 D) against the strongest rule; where the zeros are costly, only a lower bound at first."""
        attributes = self.x.shape[1]
        self.bound: Numbers = np.full((len(self.x), 2 * attributes), np.inf)
        self.state: NDArray[np.int8] = np.full(self.bound.shape, LOWER, dtype=np.int8)
        self.rival: Indices = rivals
        every = np.repeat(rows, attributes), np.tile(np.arange(attributes), len(rows))
        rival = rivals[every[0]]
        q, delta, v = self._gap(*every, rival)
        cheap = np.ones(len(q), dtype=bool) if v is None else delta == 0
        for half, sign in enumerate((1.0, -1.0)):
            result = np.zeros(len(q))
            flat = None if v is None else v[cheap]
            ones = np.full(int(cheap.sum()), sign)
            result[cheap] = first_crossing(q[cheap], delta[cheap], flat, np.zeros(len(ones)), ones)
            if v is not None:
                result[~cheap] = no_zero_within(q[~cheap], delta[~cheap], v[~cheap])
            columns = slice(half * attributes, (half + 1) * attributes)
            self.bound[rows, columns] = self._within(result.reshape(len(rows), attributes), rows, columns)
            self.state[rows, columns] = np.where(cheap, CROSSING, LOWER).reshape(len(rows), attributes)

    def _sharpen(self, rows: Indices, places: Indices) -> None:
        """Replace lower bounds by the first crossings themselves."""
        self._cross(rows, places, self.rival[rows], np.zeros(len(rows)))
        self.state[rows, places] = CROSSING

    def _check(self, rows: Indices, places: Indices) -> None:
        """Settle crossings after which the rule is the strongest; the others move on to where it overtakes again.

        A crossing that the polynomials see and the scores do not is beyond what doubles can tell: it is dropped.
        """
        before = self.bound[rows, places]
        rival, ahead, strongest = self._in_the_way(rows, places, before)
        self.state[rows[strongest], places[strongest]] = SETTLED
        behind = ~ahead & ~strongest
        self._cross(rows[behind], places[behind], rival[behind], before[behind])
        lost = ~strongest & (self.bound[rows, places] <= before * (1 + STUCK))
        self.bound[rows[lost], places[lost]] = np.inf

    def _cross(self, rows: Indices, places: Indices, rival: Indices, beyond: Numbers) -> None:
        i, sign = self._direction(places)
        q, delta, v = self._gap(rows, i, rival)
        self.bound[rows, places] = self._within(first_crossing(q, delta, v, beyond, sign), rows, places)

    def _within(self, distance: Numbers, rows: Indices, places: Indices | slice) -> Numbers:
        """Distances, infinite where they lead too far."""
        most = MOST_STEPS if self.reach is None else np.minimum(self.reach[rows, places], MOST_STEPS)
        return np.where(distance > most, np.inf, distance)

    def _in_the_way(
        self, rows: Indices, places: Indices, distance: Numbers
    ) -> tuple[Indices, NDArray[np.bool_], NDArray[np.bool_]]:
        """At the end of each change: the strongest other rule, whether the row's rule has overtaken it by the
        polynomials, and whether it is at least its equal by the scores themselves."""
        i, sign = self._direction(places)
        z = sign * distance
        square, away = self.square.T[i], self.value[rows, i][:, None] - self.center.T[i]
        w = (self.w[rows] + square * away**2) - square * (away + z[:, None]) ** 2
        scores = self.scoring.scores(w)
        here = np.arange(len(rows))
        magnitude = np.abs(scores).max(axis=1, initial=0)
        mine = scores[here, self.rules[rows]]
        scores[here, self.rules[rows]] = -np.inf
        rival = scores.argmax(axis=1)
        tie = TIE_NORMALISED if self.scoring.layer_norm else TIE * magnitude
        q, delta, v = self._gap(rows, i, rival)
        return rival, gap(q, delta, v, z) >= 0, scores[here, rival] - mine <= tie
