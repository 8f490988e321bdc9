"""A trial that costs nothing and needs no game: a bowl over the search space, for tests and for trying a cluster."""

from __future__ import annotations

import hashlib
import json

import numpy as np

from .objective import Assignment, Outcome, TrialStopped
from .space import SPACES, Choice


def bowl(assignment: Assignment) -> Outcome:
    """Returns that are the better the nearer the point is to the middle of the space: a pure function of it."""
    settings = assignment.config.protocol
    away = 0.0
    spaces = (space[assignment.config.agent] for space in SPACES.values())
    space = max(spaces, key=lambda space: len(space.keys() & assignment.params.keys()))
    point = {name: value for name, value in assignment.params.items() if name in space}
    for name, value in point.items():
        axis = space[name]
        if isinstance(axis, Choice):
            away += axis.values.index(value) / len(axis.values)
        else:
            away += abs((float(value) - axis.low) / (axis.high - axis.low) - 0.5)
    digest = hashlib.sha256(json.dumps(point, sort_keys=True).encode()).digest()
    generator = np.random.default_rng(int.from_bytes(digest[:8], "little"))
    epochs, returns, best, pruned = [], [0.0], float("-inf"), False
    for epoch in range(1, settings.epochs + 1):
        if assignment.stop.is_set():
            raise TrialStopped
        played = (100 - 10 * away) * epoch / settings.epochs + generator.normal(size=settings.episodes)
        spread = float(played.std(ddof=1)) if len(played) > 1 else 0.0
        epochs.append({"epoch": epoch, "mean": float(played.mean()), "sd": spread})
        if epochs[-1]["mean"] > best:
            best, returns = epochs[-1]["mean"], [float(r) for r in played]
        if pruned := not assignment.report(epochs):
            break
    own = np.random.default_rng(assignment.config.seed)
    new = [float(r) for r in 100 - 10 * away + own.normal(size=assignment.new_episodes)]
    return Outcome(epochs, returns, pruned=pruned, new_returns=new)
