"""What a player can see in one frame, read off the engine: things drawn on the screen, walls, health, ammunition."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

# The engine draws 90 degrees; its depth counts in steps of about so many of the map's units, up to about 60 steps.
HALF_VIEW, DEPTH_UNIT, FARTHEST = 45.0, 7.5, 450.0
# What the engine files things under, and what they are called here; all else, one's own weapon, say, is left out.
KINDS = {
    "Monster": "monster",
    "Explosive": "missile",
    "Internal": "missile",
    "Health": "medikit",
}


@dataclass(frozen=True)
class Thing:
    """One thing that is drawn."""

    kind: str
    """a name of `KINDS`"""
    number: int
    """the engine's, the same as long as the thing exists"""
    degrees: float
    """to the right of the middle of the picture, of the middle of what is seen of it"""
    distance: float
    """units of the map; a monster is about 40 wide"""


@dataclass(frozen=True)
class Sight:
    """A frame as a player sees it. Nothing is told of what is not drawn: hidden, or outside of the picture."""

    things: tuple[Thing, ...]
    """nearest first"""
    health: float
    ammunition: float
    ahead: float
    """units to what stands in the middle of the picture, up to `FARTHEST`"""
    left: float
    """the same at its left edge, 45 degrees"""
    right: float
    facing: float = 0.0
    """degrees to the right that the player has turned, from somewhere: of two sights the difference is known"""

    def of(self, kind: str) -> list[Thing]:
        """Things of a kind, nearest first."""
        return [thing for thing in self.things if thing.kind == kind]


def read_sight(state: Any, *, width: int) -> Sight:
    """From ViZDoom's state: labels, game variables in the order of `VARIABLES`, and depth where it is drawn.

    A label is there only for what has at least one pixel on the screen. Its position serves for the distance alone,
    which a player sees by its size.
    """
    health, ammunition, x, y, angle = state.game_variables[: len(VARIABLES)]
    things = [
        Thing(
            KINDS[label.object_category],
            int(label.object_id),
            math.degrees(math.atan((label.x + label.width / 2 - width / 2) / (width / 2))),
            math.hypot(label.object_position_x - x, label.object_position_y - y),
        )
        for label in state.labels
        if label.object_category in KINDS
    ]
    things.sort(key=lambda thing: (thing.distance, thing.number))
    depth = getattr(state, "depth_buffer", None)
    ahead, left, right = _walls(depth) if depth is not None else (FARTHEST,) * 3
    return Sight(tuple(things), float(health), max(float(ammunition), 0.0), ahead, left, right, -float(angle))


VARIABLES = ("HEALTH", "SELECTED_WEAPON_AMMO", "POSITION_X", "POSITION_Y", "ANGLE")
"""What the engine is asked for; position and angle are never told, only distances and turns made of them."""


def _walls(depth: np.ndarray[Any, np.dtype[np.uint8]]) -> tuple[float, float, float]:
    """Units to what stands in the middle and at the edges of the picture, just above the floor's horizon."""
    height, width = depth.shape
    row = depth[height * 5 // 12]
    places = (width // 2, 0, width - 1)
    ahead, left, right = (min(float(row[place]) * DEPTH_UNIT, FARTHEST) for place in places)
    return ahead, left, right
