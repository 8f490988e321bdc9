"""An arena that nothing disturbs, and the same one with workers."""

from collections.abc import Iterator

import pytest

from neuroplastic.experiment.arena import Arena
from tests.experiment.arena_games import GAMES, TASKS, played


@pytest.fixture(scope="module")
def undisturbed() -> list[tuple[object, ...]]:
    """What 40 steps of Catch show in this process."""
    with Arena(TASKS[0], games=GAMES, seed=3, processes=0) as arena:
        arena.begin()
        return played(arena)


@pytest.fixture(scope="module")
def two_workers() -> Iterator[Arena]:
    """The same arena with two workers; `begin` starts it over."""
    with Arena(TASKS[0], games=GAMES, seed=3, processes=2) as arena:
        yield arena
