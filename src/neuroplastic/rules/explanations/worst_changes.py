"""The smallest change of one attribute that lets a rule take over, where rules are compared by their worst premise.

Along attribute i, `z` away from the observation, a rule's score is `level - slope max(R, P (z - c)**2)`: R is the worst
of its other premises, P and c belong to its premise on i. Two such scores can only meet where a parabola meets another
or a constant, so all places where a rule can take over are zeros of a few quadratics, and the nearest of them at which
it is the strongest is the answer.
"""

from __future__ import annotations

import numpy as np

from ..rule_base import Indices, Numbers
from .crossing import quadratic_zeros
from .scoring import Scoring

# Places that are looked at in one round, the nearest first.
PLACES_AT_ONCE = 1 << 10
# A score that is below another by less than this part of the scores' magnitude ties with it.
TIE = 1e-10
# Meetings that are apart by less than this part of their distance are one.
SAME = 1e-9

SIDES = np.array([1.0, -1.0])


def nearest_place(
    scoring: Scoring, x: Numbers, rule: int, most_steps: float | Numbers
) -> tuple[int, float] | None:
    """Attribute and amount of the smallest change of x (D,) at which `rule` is as strong as any other, if any is.

    Changes are compared in steps, and none counts beyond `most_steps`, one for all or (2, 1, D) for each attribute that
    rises, then that falls. Without layer norm.
    """
    lines = _Lines(scoring, x)
    if lines.is_strongest(rule, np.zeros(1, dtype=np.int64), np.zeros(1))[0]:
        return 0, 0.0
    z = lines.meetings(rule).reshape(-1, len(x)) / scoring.unit
    # Between two meetings the order of the scores stays: who is the strongest after one is seen in the middle.
    meetings = np.sort(np.stack([np.where(side * z > 0, side * z, np.inf) for side in SIDES]), axis=1)
    after = np.concatenate([meetings[:, 1:], np.full_like(meetings[:, :1], np.inf)], axis=1)
    wide = (meetings <= most_steps) & (after > meetings * (1 + SAME))
    middle = np.where(np.isfinite(after), (meetings + after) / 2, 2 * meetings + 1)[wide]
    sides, _, attributes = wide.nonzero()
    sign, unit, steps = SIDES[sides], scoring.unit[attributes], meetings[wide]
    order = np.argsort(steps, kind="stable")
    for start in range(0, len(order), PLACES_AT_ONCE):
        chosen = order[start : start + PLACES_AT_ONCE]
        strongest = lines.is_strongest(rule, attributes[chosen], (sign * unit * middle)[chosen])
        if strongest.any():
            place = chosen[strongest.argmax()]
            return int(attributes[place]), float((sign * unit * steps)[place])
    return None


class _Lines:
    """The rules' scores along every attribute from one observation."""

    def __init__(self, scoring: Scoring, x: Numbers) -> None:
        self.scoring = scoring
        self.away = scoring.center - x
        distance = scoring.precision * self.away**2
        rules = np.arange(len(distance))
        worst = distance.argmax(axis=1)
        greatest = distance[rules, worst]
        distance[rules, worst] = 0.0
        here = np.arange(len(x)) == worst[:, None]
        # (U, D): how far a rule is from fitting but for its premise on the attribute
        self.rest: Numbers = np.where(here, distance.max(axis=1)[:, None], greatest[:, None])

    def is_strongest(
        self, rule: int, attributes: Indices, z: Numbers
    ) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Whether a rule is at least the equal of every other after each change, (N,)."""
        away, rest = self.away.T[attributes], self.rest.T[attributes]
        square = self.scoring.precision.T[attributes] * (z[:, None] - away) ** 2
        scores = self.scoring.level - self.scoring.slope * np.maximum(rest, square)
        tie = TIE * np.abs(scores).max(axis=1)
        found: np.ndarray[tuple[int], np.dtype[np.bool_]] = scores[:, rule] >= scores.max(axis=1) - tie
        return found

    def meetings(self, rule: int) -> Numbers:
        """Where the rule's score meets each other's along each attribute, (6, U, D); infinite where it does not."""
        own = self.scoring.slope[:, None] * self.scoring.precision
        bound = self.scoring.slope[:, None] * self.rest
        lead = (self.scoring.level[rule] - self.scoring.level)[:, None]
        mine, at = own[rule], self.away[rule]
        both = quadratic_zeros(
            mine * at**2 - own * self.away**2 - lead, 2 * (own * self.away - mine * at), mine - own
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            theirs = np.sqrt((bound[rule] - lead) / own)  # their parabola meets what bounds mine
            ours = np.sqrt((lead + bound) / mine)
            found = np.stack([self.away + theirs, self.away - theirs, at + ours, at - ours])
        every: Numbers = np.concatenate([both, np.where(np.isfinite(found), found, np.inf)])
        return every
