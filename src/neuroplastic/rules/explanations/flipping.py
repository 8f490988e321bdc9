"""What would have to change for another rule to fire strongest, among categories: which of them another one."""

from __future__ import annotations

import numpy as np

from ..rule_base import Indices, Numbers
from .limits import Choice, Limits
from .scoring import Scoring
from .taking_over import Change, nearest_changes

# What another category counts as beside steps of numbers, which are mean widths of their sets.
STEPS = 1.0


def allowed_changes(
    scoring: Scoring, x: Numbers, rules: Indices, limits: Limits | None
) -> tuple[Change | None, ...]:
    """As `nearest_changes`, within limits: numbers stay inside them, and one category may become another.

    Another category counts as one step. Of several that do, the one that puts the rule farthest ahead is told.
    """
    if limits is None:
        return nearest_changes(scoring, x, rules)
    found = list(nearest_changes(scoring, x, rules, limits))
    ahead = np.full(len(x), -np.inf)
    for choice in limits.choices:
        if not scoring.precision[:, list(choice.attributes)].any():
            continue  # no rule asks for it
        now = choice.places(x)
        for place in range(len(choice.categories)):
            lead = _lead(scoring, x, rules, choice, place)
            for row in np.flatnonzero((now != place) & (lead >= 0) & (lead > ahead)).tolist():
                before = found[row]
                if before is None or before.steps > STEPS or before.words is not None:
                    found[row], ahead[row] = _change(x[row], choice, int(now[row]), place), lead[row]
    return tuple(found)


def _lead(scoring: Scoring, x: Numbers, rules: Indices, choice: Choice, place: int) -> Numbers:
    """How far each row's rule is ahead of all others in score, (B,), were its category this one."""
    changed = x.copy()
    changed[:, list(choice.attributes)] = choice.values[place]
    scores = scoring.scores(scoring.log_firing(changed))
    every = np.arange(len(x))
    mine = scores[every, rules]
    scores[every, rules] = -np.inf
    lead: Numbers = mine - scores.max(axis=1)
    return lead


def _change(x: Numbers, choice: Choice, now: int, place: int) -> Change:
    """Told of the attribute that differs first."""
    differs = [
        at for at, value in zip(choice.attributes, choice.values[place], strict=True) if x[at] != value
    ]
    attribute = differs[0]
    old = choice.categories[now] if now >= 0 else "none of the known"
    to = float(choice.values[place][choice.attributes.index(attribute)])
    words = f"{choice.name} were {choice.categories[place]} instead of {old}"
    return Change(attribute, float(x[attribute]), to, STEPS, words)
