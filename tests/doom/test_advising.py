"""What training games advise: the marksman of PP, the gunner of BP and BR, the runner of TC, and scripted players."""

import math

import numpy as np
import pytest

pytest.importorskip("vizdoom")

from neuroplastic import doom
from neuroplastic.doom.advising import (
    AHEAD,
    ASLANT,
    AWRY,
    DELAY,
    ROCKET,
    SHOOT,
    STAND,
    STRAIGHT,
    WALL,
    adviser,
    gunner,
    marksman,
    runner,
)
from neuroplastic.doom.objects import Look, attributes_of
from neuroplastic.doom.scripted import scripted_player
from neuroplastic.doom.sight import Sight, Thing

NOTHING, LEFT, RIGHT, ATTACK = 0, 1, 2, 4
TICS = 4


def sight(ahead=None, aside=0.0, *, facing=0.0, ammunition=1.0):
    """A monster so far ahead of the start and to its right; without, none is seen."""
    things = ()
    if ahead is not None:
        degrees = math.degrees(math.atan2(aside, ahead)) - facing
        things = (Thing("monster", 7, degrees, math.hypot(ahead, aside)),)
    return Sight(things, 100.0, ammunition, 0.0, 0.0, 0.0, facing)


def walking(aside, pace, *, facing=0.0, aslant=0.0, pressed=False, ammunition=1.0):
    """What is seen of a monster 600 units off that walked for four tics."""
    before = sight(600 - aslant * TICS, aside - pace * TICS, facing=facing)
    return Look(sight(600, aside, facing=facing, ammunition=ammunition), before, pressed, TICS)


@pytest.mark.parametrize("pace", [STRAIGHT, -STRAIGHT])
@pytest.mark.parametrize("aside", [-250, 0, 250])
def test_a_shot_that_is_advised_meets_a_monster_that_walks_on(aside, pace):
    advised = [facing for facing in range(-60, 61) if marksman(walking(aside, pace, facing=facing)) == ATTACK]
    assert len(advised) in (int(2 * AWRY), int(2 * AWRY) + 1)
    middle = np.mean(advised)
    tics = next(t for t in range(200) if ROCKET * (t - DELAY) >= math.hypot(600, aside + pace * t))
    there = math.degrees(math.atan2(aside + pace * tics, 600))
    assert middle == pytest.approx(there, abs=1.5)


def test_it_turns_towards_where_they_meet():
    assert marksman(walking(0, STRAIGHT)) == RIGHT
    assert marksman(walking(0, -STRAIGHT)) == LEFT
    assert marksman(walking(0, STRAIGHT, facing=359.0)) == RIGHT, "a turn past the start is no way round"


def test_before_a_wall_and_while_the_monster_zigzags_aside_it_waits_facing_the_middle():
    assert marksman(walking(500, STRAIGHT)) == NOTHING
    assert marksman(walking(500, STRAIGHT, facing=40.0)) == LEFT
    assert marksman(walking(300, ASLANT, aslant=ASLANT)) == NOTHING
    assert marksman(walking(-180, ASLANT, aslant=ASLANT)) == ATTACK, "it comes through the middle"


def test_a_monster_that_has_not_moved_is_not_shot_at():
    assert marksman(walking(0, 0.0)) == NOTHING
    assert marksman(Look(sight(600), None, False, TICS)) == NOTHING


def test_the_trigger_is_held_until_the_rocket_has_left():
    assert marksman(walking(0, STRAIGHT, pressed=True)) == ATTACK
    assert marksman(walking(0, STRAIGHT, pressed=True, ammunition=0.0)) == NOTHING


def test_where_no_monster_is_seen_it_turns_back():
    assert marksman(Look(sight(facing=50.0), sight(facing=50.0), False, TICS)) == LEFT
    assert marksman(Look(sight(facing=-50.0), sight(facing=-50.0), False, TICS)) == RIGHT


def test_what_it_advises_hits_more_often_than_the_scripted_player():
    game = doom.make("PP", picture="fast", advised=True, seed=5)
    returns = []
    for _ in range(20):
        game.reset()
        over, gained = False, 0.0
        while not over:
            _, reward, terminated, truncated, _ = game.step(game.advice)
            over, gained = terminated or truncated, gained + reward
        returns.append(gained)
    game.close()
    assert np.mean(returns) > 0.55


def test_elsewhere_the_scripted_player_is_asked():
    look = walking(100, 0.0)
    assert adviser("HTL")(look) == scripted_player("HTL")(attributes_of("HTL", look)[None])[0]


@pytest.mark.parametrize("aside", [0.0, STAND - 1, STAND + 1, SHOOT["BP"] - 1, SHOOT["BP"] + 1, 300.0])
def test_a_gunner_pulls_the_trigger_while_it_still_walks_and_then_stands(aside):
    walks, shoots = aside > STAND, aside < SHOOT["BP"]
    for side, place in ((RIGHT, aside), (LEFT, -aside)):
        look = Look(sight(400, place), None, False, TICS)
        assert gunner(look, SHOOT["BP"], lets_go=False) == side * walks + ATTACK * shoots


def test_a_gunner_with_rockets_lets_the_trigger_go_and_waits_for_the_rocket():
    held = Look(sight(400, 0.0), None, True, TICS)
    assert gunner(held, SHOOT["BR"], lets_go=True) == NOTHING
    assert gunner(held, SHOOT["BP"], lets_go=False) == ATTACK
    for side, place in ((RIGHT, AHEAD + 1), (LEFT, -AHEAD - 1)):
        assert gunner(Look(sight(400, place), None, False, TICS), SHOOT["BR"], lets_go=True) == side + ATTACK
    for side, place in ((LEFT, 1.0), (RIGHT, -1.0)):
        assert gunner(Look(sight(400, place), None, False, TICS), SHOOT["BR"], lets_go=True) == side, (
            "a trigger that was never let go would not fire"
        )
    flying = Sight((Thing("missile", 3, 0.0, 100.0), *sight(400, 0.0).things), 100.0, 9.0, 0.0, 0.0, 0.0)
    assert gunner(Look(flying, None, False, TICS), SHOOT["BR"], lets_go=True) == NOTHING


def running(moved, left=300.0, right=300.0):
    """Monsters that moved by so many degrees in the picture, between walls."""
    before, now = (
        Sight((Thing("monster", 1, at, 600.0),), 100.0, 0.0, 450.0, left, right) for at in (0.0, moved)
    )
    return Look(now, before, False, TICS)


def test_a_runner_runs_on_and_turns_back_at_a_wall():
    assert runner(running(3.0)) == LEFT, "what is seen moves to the right"
    assert runner(running(-3.0)) == RIGHT
    assert runner(running(3.0, left=WALL - 1)) == RIGHT
    assert runner(running(-3.0, right=WALL - 1)) == LEFT


def test_a_runner_that_stands_runs_to_where_there_is_more_room():
    assert runner(running(0.0, left=400.0, right=200.0)) == LEFT
    assert runner(running(0.0, left=200.0, right=400.0)) == RIGHT
    assert runner(Look(running(0.0).now, None, False, TICS)) in (LEFT, RIGHT)
