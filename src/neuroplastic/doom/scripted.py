"""Players that somebody wrote down: a few lines a scenario, over its named attributes. Teachers, and yardsticks."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .objects import UNSEEN_DEGREES, observation_of
from .scenarios import SCENARIOS

Seen = dict[str, float]
_NOTHING, _LEFT, _RIGHT, _THIRD = 0, 1, 2, 4  # bits of an action; the third button attacks, or in GH walks
HALF_MONSTER = 20.0  # units
ABOUT = 3.0  # degrees: a turn of four tics is wider than a far monster
LEAD = 21.0  # degrees that the monster of PP walks until a rocket is there, which leaves 8 tics after the trigger
NEAR_ENOUGH = 740.0  # units: farther off, the monster soon turns back


def scripted_player(key: str) -> Callable[[NDArray[np.float32]], NDArray[np.int64]]:
    """The player of a scenario: from attributes (k, D), as `observe="objects"` gives them, to actions (k,)."""
    names, decide = observation_of(SCENARIOS[key].key).names, _PLAYERS[key]

    def play(observations: NDArray[np.float32]) -> NDArray[np.int64]:
        rows = (dict(zip(names, row, strict=True)) for row in np.asarray(observations).tolist())
        return np.array([decide(row) for row in rows], np.int64)

    return play


def _toward(degrees: float) -> int:
    return _RIGHT if degrees > 0 else _LEFT


def _aimed(degrees: float, distance: float) -> bool:
    """Whether a monster stands in the middle of the picture."""
    return abs(degrees) <= math.degrees(math.atan2(HALF_MONSTER, distance))


def _pistol(seen: Seen) -> int:
    """Walk until the monster is ahead, then shoot."""
    if _aimed(seen["monster"], seen["distance of the monster"]):
        return _THIRD
    return _toward(seen["monster"]) if seen["monster"] < UNSEEN_DEGREES else _RIGHT


def _launcher(seen: Seen) -> int:
    """The same, but let the trigger go after each shot, and wait for the rocket."""
    if not _aimed(seen["monster"], seen["distance of the monster"]):
        return _toward(seen["monster"])
    return _NOTHING if seen["trigger"] or seen["rocket"] < UNSEEN_DEGREES else _THIRD


def _tracker(seen: Seen) -> int:
    """Aim ahead of the monster, wait until a rocket would meet it, not too far off, and hold the trigger."""
    walk = seen["walk of the monster"]
    if seen["monster"] == UNSEEN_DEGREES:
        return _RIGHT if seen["ammunition"] else _NOTHING
    if not seen["ammunition"] or not walk:
        return _NOTHING
    past = math.copysign(1.0, walk) * seen["monster"] + LEAD
    if (
        seen["trigger"] == 1 and -ABOUT <= past <= 4 * ABOUT
    ):  # later it did not fire: it is to be let go first
        return _THIRD
    if past > ABOUT:
        return _toward(walk)
    if past < -3 * ABOUT:
        return _toward(-walk)
    return _THIRD if past >= -ABOUT and seen["distance of the monster"] <= NEAR_ENOUGH else _NOTHING


def _centre(seen: Seen) -> int:
    """Turn left until a monster is in the middle, then shoot."""
    central = seen["most central monster"], seen["distance of the most central monster"]
    return _THIRD if _aimed(*central) else _LEFT


def _line(seen: Seen) -> int:
    """Shoot at what is about in the middle, else turn to what is nearest to it."""
    central = seen["most central monster"]
    return _THIRD if abs(central) < ABOUT else _toward(central)


def _cover(seen: Seen) -> int:
    """Step aside from a fireball that comes near, to the side where it is not, but not into a wall."""
    if seen["distance of the nearest fireball"] > 350:
        return _NOTHING
    away = _LEFT if seen["nearest fireball"] > 0 else _RIGHT
    room = seen["room to the left" if away == _LEFT else "room to the right"]
    return away if room > 60 else _LEFT + _RIGHT - away


def _gather(seen: Seen) -> int:
    """Walk to the nearest medikit; where none is seen, walk on, and turn before a wall."""
    if seen["nearest medikit"] == UNSEEN_DEGREES:
        return _RIGHT + (_THIRD if seen["room ahead"] > 100 else 0)
    return _THIRD + (_toward(seen["nearest medikit"]) if abs(seen["nearest medikit"]) > 6 else 0)


_PLAYERS: dict[str, Callable[[Seen], int]] = {
    "BP": _pistol,
    "BR": _launcher,
    "PP": _tracker,
    "HTL": _line,
    "DTC": _centre,
    "TC": _cover,
    "GH": _gather,
}
