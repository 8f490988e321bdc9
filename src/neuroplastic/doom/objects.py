"""The scenarios as vectors of named attributes: what a player sees, in degrees, units, counts and points."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..network.observation import Observation
from ..network.scales import Scale
from .pictures import TICS_PER_SECOND
from .sight import FARTHEST, HALF_VIEW, Sight, Thing

# "Not seen" is a value of its own, beyond all that is seen.
UNSEEN_DEGREES, FAR, UNSEEN_DISTANCE = 90.0, 1200.0, 1600.0
FARTHEST_MISS, UNSEEN_MISS = 300.0, 400.0
MOST_PER_SECOND = 60.0  # degrees


@dataclass(frozen=True)
class Look:
    """What attributes are made of: this frame, the one that was decided on before, and what was pressed then."""

    now: Sight
    before: Sight | None
    pressed: bool
    """whether the trigger was held"""
    tics: int
    """between the two frames"""


@dataclass(frozen=True)
class Attribute:
    """One named number, its scale, and what it says."""

    name: str
    meaning: str
    scale: Scale
    read: Callable[[Look], float]

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the greatest value, "not seen" included."""
        unseen = self.scale.unseen
        return self.scale.low, self.scale.high if unseen is None else unseen


_DEGREES = Scale("degrees", -HALF_VIEW, HALF_VIEW, unseen=UNSEEN_DEGREES)
_DISTANCE = Scale("number", 0.0, FAR, "units away", unseen=UNSEEN_DISTANCE)
_POINTS = Scale("number", 0.0, 100.0)
_ROOM = Scale("number", 0.0, FARTHEST, "units away")


def _nth(kind: str, place: int) -> Callable[[Look], Thing | None]:
    def pick(look: Look) -> Thing | None:
        found = look.now.of(kind)
        return found[place] if place < len(found) else None

    return pick


def _central(look: Look) -> Thing | None:
    found = look.now.of("monster")
    return min(found, key=lambda thing: (abs(thing.degrees), thing.number)) if found else None


_Pick = Callable[[Look], Thing | None]


def _degrees(name: str, pick: _Pick) -> Attribute:
    def read(look: Look) -> float:
        thing = pick(look)
        return UNSEEN_DEGREES if thing is None else thing.degrees

    return Attribute(name, "degrees to the right (negative: to the left); 90 if not seen", _DEGREES, read)


def _distance(name: str, pick: _Pick) -> Attribute:
    def read(look: Look) -> float:
        thing = pick(look)
        return UNSEEN_DISTANCE if thing is None else min(thing.distance, FAR)

    meaning = "units of the map, 1200 at most (a monster is about 40 wide); 1600 if not seen"
    return Attribute(name, meaning, _DISTANCE, read)


def _miss(look: Look) -> float:
    """By how much a shot now would pass the middle of the monster that is nearest to the middle of the picture."""
    thing = _central(look)
    if thing is None:
        return UNSEEN_MISS
    return min(thing.distance * abs(math.sin(math.radians(thing.degrees))), FARTHEST_MISS)


def _count(name: str, kind: str, most: int) -> Attribute:
    def read(look: Look) -> float:
        return float(min(len(look.now.of(kind)), most))

    return Attribute(name, f"how many, {most} at most", Scale("count", 0.0, most), read)


def _turned(look: Look) -> float:
    """Degrees to the right that the player turned since the decision before."""
    if look.before is None:
        return 0.0
    return (look.now.facing - look.before.facing + 180) % 360 - 180


def _walk(look: Look) -> float:
    """Degrees per second to the right that the nearest monster walks, if it was seen before, too."""
    found = look.now.of("monster")
    if not found or look.before is None:
        return 0.0
    was = [thing for thing in look.before.of("monster") if thing.number == found[0].number]
    if not was:
        return 0.0
    return (found[0].degrees - was[0].degrees + _turned(look)) * TICS_PER_SECOND / look.tics


_MONSTER, _MISSILE, _MEDIKIT = _nth("monster", 0), _nth("missile", 0), _nth("medikit", 0)
_HEALTH = Attribute("health", "points, 100 at most", _POINTS, lambda look: min(look.now.health, 100.0))
_TRIGGER = Attribute(
    "trigger",
    "1 if the trigger was held in the decision before, else 0",
    Scale("count", 0.0, 1.0),
    lambda look: float(look.pressed),
)


def _ammunition(most: float) -> Attribute:
    def read(look: Look) -> float:
        return min(look.now.ammunition, most)

    return Attribute("ammunition", f"shots left, {most:g} at most", Scale("count", 0.0, most), read)


_WALK = Attribute(
    "walk of the monster",
    "degrees per second to the right; 0 if it was not seen in the decision before",
    Scale("number", -MOST_PER_SECOND, MOST_PER_SECOND, "°/s to the right"),
    _walk,
)
_SIDES = (
    Attribute(
        "room to the left",
        f"units to what stands at the picture's left edge, {FARTHEST:g} at most",
        _ROOM,
        lambda look: look.now.left,
    ),
    Attribute(
        "room to the right",
        f"units to what stands at the picture's right edge, {FARTHEST:g} at most",
        _ROOM,
        lambda look: look.now.right,
    ),
)
_TURN = Attribute(
    "last turn",
    "degrees to the right that the player turned since the decision before (negative: to the left); 0 at first",
    Scale("degrees", -HALF_VIEW, HALF_VIEW),
    _turned,
)
_MISS = Attribute(
    "middle of the most central monster",
    "units of the map beside the line of fire, 300 at most; 400 if not seen",
    Scale("number", 0.0, FARTHEST_MISS, "units beside the line of fire", unseen=UNSEEN_MISS),
    _miss,
)
_AHEAD = Attribute(
    "room ahead",
    f"units to what stands in the middle of the picture, {FARTHEST:g} at most",
    _ROOM,
    lambda look: look.now.ahead,
)

_MONSTERS = (
    _degrees("nearest monster", _MONSTER),
    _distance("distance of the nearest monster", _MONSTER),
    _degrees("most central monster", _central),
    _distance("distance of the most central monster", _central),
    _count("monsters seen", "monster", 10),
)

ATTRIBUTES: dict[str, tuple[Attribute, ...]] = {
    "BP": (
        _degrees("monster", _MONSTER),
        _distance("distance of the monster", _MONSTER),
        *_SIDES,
        _ammunition(50),
        _TRIGGER,
    ),
    "BR": (
        _degrees("monster", _MONSTER),
        _distance("distance of the monster", _MONSTER),
        _degrees("rocket", _MISSILE),
        _distance("distance of the rocket", _MISSILE),
        _ammunition(50),
        _TRIGGER,
    ),
    "PP": (
        _degrees("monster", _MONSTER),
        _distance("distance of the monster", _MONSTER),
        _WALK,
        _distance("distance of the rocket", _MISSILE),
        _ammunition(1),
        _TRIGGER,
    ),
    "HTL": (
        *_MONSTERS,
        _degrees("nearest fireball", _MISSILE),
        _distance("distance of the nearest fireball", _MISSILE),
        _TURN,
        _ammunition(200),
        _HEALTH,
    ),
    "DTC": (
        *_MONSTERS,
        _MISS,
        _ammunition(26),
        _HEALTH,
    ),
    "TC": (
        _degrees("nearest fireball", _MISSILE),
        _distance("distance of the nearest fireball", _MISSILE),
        _degrees("second fireball", _nth("missile", 1)),
        _distance("distance of the second fireball", _nth("missile", 1)),
        _count("monsters seen", "monster", 20),
        *_SIDES,
        _HEALTH,
    ),
    "GH": (
        _degrees("nearest medikit", _MEDIKIT),
        _distance("distance of the nearest medikit", _MEDIKIT),
        _degrees("second medikit", _nth("medikit", 1)),
        _distance("distance of the second medikit", _nth("medikit", 1)),
        _count("medikits seen", "medikit", 10),
        _AHEAD,
        _HEALTH,
    ),
}
"""By scenario, in the order of the vector."""
NEEDS_DEPTH = ("BP", "TC", "GH")
"""Scenarios with attributes of walls, which the engine draws at some cost."""


def observation_of(key: str) -> Observation:
    """Shape, names, ranges and scales of a scenario's attributes."""
    attributes = ATTRIBUTES[key]
    ends = [attribute.ends for attribute in attributes]
    return Observation(
        (len(attributes),),
        tuple(attribute.name for attribute in attributes),
        tuple(low for low, _ in ends),
        tuple(high for _, high in ends),
        tuple(attribute.scale for attribute in attributes),
    )


def attributes_of(key: str, look: Look) -> NDArray[np.float32]:
    """The vector (D,) of a scenario, each value within its range."""
    values = [np.clip(attribute.read(look), *attribute.ends) for attribute in ATTRIBUTES[key]]
    return np.array(values, np.float32)
