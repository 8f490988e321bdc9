"""What training games advise: what the scripted player would do, or where one is known, a better one.

That is in PP a marksman that knows where things walk, in BP and BR one that pulls the trigger before it has come to a
stand, in TC one that never stands still.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from .objects import Look, attributes_of
from .scripted import scripted_player
from .sight import Sight

_NOTHING, _LEFT, _RIGHT, _ATTACK = 0, 1, 2, 4
ROCKET = 20.0  # units a tic
DELAY = 7.5  # tics from the trigger to the rocket
STRAIGHT, ASLANT = 6.7, 4.8  # units a tic that the monster of PP walks to the side
AWRY = 3.5  # degrees that a shot may be off
STEP = 9.0  # units: less is not seen as a step
END, MIDDLE = 630.0, 110.0  # units aside: it turns back behind; where it zigzags, depth hardly matters before
STAND, SHOOT = (
    20.0,
    {"BP": 45.0, "BR": 70.0},
)  # units beside the line of fire; a shot leaves while one still slides
AHEAD = 14.0  # units beside the line of fire: straight ahead
WALL = 90.0  # units to the wall at the edge of the picture: it is time to turn back
RUNS = 0.3  # degrees that monsters move in the picture at least while one runs


def adviser(key: str) -> Callable[[Look], int]:
    """What tells an action from a look at a game of the scenario."""
    if key == "PP":
        return marksman
    if key == "TC":
        return runner
    if key in SHOOT:
        return lambda look: gunner(look, SHOOT[key], lets_go=key == "BR")
    play = scripted_player(key)
    return lambda look: int(play(attributes_of(key, look)[None])[0])


def marksman(look: Look) -> int:
    """Aim where a rocket and the monster of PP would meet, from how it walked since the decision before.

    It walks straight to the side until a wall, where shots are on, and then zigzags, where they are if they meet it
    about in the middle. Until then the middle is aimed at. The facing at the start, which looks at the middle, is 0.
    """
    now, before = look.now, look.before
    if not now.ammunition:
        return _NOTHING
    monsters = now.of("monster")
    if not monsters:
        return _LEFT if _turn(now.facing) > 0 else _RIGHT
    if look.pressed:
        return _ATTACK
    number = monsters[0].number
    was = None if before is None else _place(before, number)
    if before is None or was is None:
        return _NOTHING
    ahead, aside = _place(now, number) or was
    straight = abs(ahead - was[0]) < STEP
    walk = math.copysign(STRAIGHT if straight else ASLANT, aside - was[1])
    met = _meeting(ahead, aside, walk)
    worthwhile = abs(aside - was[1]) >= STEP - 1 and abs(met) < (END if straight else MIDDLE)
    off = _turn((math.degrees(math.atan2(met, ahead)) if worthwhile else 0.0) - now.facing)
    if abs(off) > AWRY:
        return _RIGHT if off > 0 else _LEFT
    return _ATTACK if worthwhile else _NOTHING


def gunner(look: Look, shoot: float, *, lets_go: bool) -> int:
    """Walk until the monster is ahead, and pull the trigger a little before.

    Where one `lets_go` of it after each shot, and sees what comes of it (BR), a monster straight ahead is stepped aside
    from before it is shot at: a trigger that is held from the first tic never fires, and in one picture of somebody who
    stands and holds it, nothing tells so.
    """
    monsters = look.now.of("monster")
    if not monsters:
        return _RIGHT
    aside = monsters[0].distance * math.sin(math.radians(monsters[0].degrees))
    toward = _RIGHT if aside > 0 else _LEFT
    waits = lets_go and (look.pressed or look.now.of("missile"))
    if lets_go and not waits and abs(aside) <= AHEAD:
        return _LEFT + _RIGHT - toward
    attack = _NOTHING if waits or abs(aside) > shoot else _ATTACK
    return attack if abs(aside) <= STAND and (waits or not lets_go) else attack + toward


def runner(look: Look) -> int:
    """Run on to the side, to where one runs already, and turn back at a wall: fireballs fly to where one was."""
    now = look.now
    if min(now.left, now.right) < WALL:
        return _RIGHT if now.left < now.right else _LEFT
    was = {} if look.before is None else {thing.number: thing.degrees for thing in look.before.of("monster")}
    moved = [thing.degrees - was[thing.number] for thing in now.of("monster") if thing.number in was]
    to_the_right = sum(moved) / len(moved) if moved else 0.0
    if abs(to_the_right) < RUNS:  # one stands: to where there is more room
        to_the_right = now.left - now.right
    return _LEFT if to_the_right >= 0 else _RIGHT


def _turn(degrees: float) -> float:
    """The same turn, at most half way round."""
    return (degrees + 180) % 360 - 180


def _place(sight: Sight, number: int) -> tuple[float, float] | None:
    """Units ahead of the start and to its right of a thing; None if it is not seen."""
    for thing in sight.things:
        if thing.number == number:
            bearing = math.radians(sight.facing + thing.degrees)
            return thing.distance * math.cos(bearing), thing.distance * math.sin(bearing)
    return None


def _meeting(ahead: float, aside: float, walk: float) -> float:
    """Units to the right where a rocket would meet what walks to the side by so many units a tic."""
    tics = 40.0
    for _ in range(6):
        tics = DELAY + math.hypot(ahead, aside + walk * tics) / ROCKET
    return aside + walk * tics
