"""Hiding squares by what is usual finds the one that decides."""

import numpy as np
import pytest
import torch

from neuroplastic.errors import InputError
from neuroplastic.rules.explanations.hiding import ENOUGH, hide, usual_picture

USUAL = np.full((32, 40, 3), 90, np.uint8)
SPOT = (slice(8, 12), slice(20, 24))


def values(pictures: torch.Tensor) -> torch.Tensor:
    """The second action is preferred where the spot is bright; the left edge counts a little."""
    light = pictures.double().mean(dim=3)
    spot = light[:, 8:12, 20:24].mean(dim=(1, 2)) - 90
    edge = 0.1 * (light[:, 16:20, 0:4].mean(dim=(1, 2)) - 90)
    return torch.stack([edge, spot], dim=1)


def test_the_hottest_square_covers_what_decides_and_hiding_it_changes_the_action() -> None:
    picture = USUAL.copy()
    picture[SPOT] = 250
    picture[16:20, 0:4] = 120
    found = hide(values, picture, USUAL)
    assert found.hottest == (8, 20, 12, 24)
    assert found.instead == 0
    assert found.ahead > 10
    assert found.heat.shape == (32, 40)
    assert found.heat[SPOT].min() > found.heat[16:20, 0:4].max() > found.heat[24:, 30:].max() == 0


def test_a_picture_as_usual_points_nowhere() -> None:
    assert hide(values, USUAL, USUAL).hottest is None
    with pytest.raises(InputError, match="shape of the picture"):
        hide(values, USUAL, USUAL[1:])


def test_what_is_usual_is_told_by_the_pictures_around() -> None:
    pictures = np.zeros((2 * ENOUGH, 2, 2, 1), np.uint8)
    pictures[ENOUGH:] = 10
    assert usual_picture(pictures, 20).max() == 0
    assert usual_picture(pictures, 2 * ENOUGH - 1).min() == 10
    assert usual_picture(pictures[: ENOUGH // 2], 3).shape == (2, 2, 1)
    with pytest.raises(InputError, match="one of them be meant"):
        usual_picture(pictures, 2 * ENOUGH)


def test_what_is_usual_is_told_by_those_that_look_alike() -> None:
    """In a flash of light it is what is seen in other flashes, and a thing that is there once is none of it."""
    pictures = np.repeat(USUAL[None], ENOUGH, axis=0)
    pictures[::5] += 100
    pictures[50][SPOT] = 250
    assert (usual_picture(pictures, 50) == 190).all()
    assert (usual_picture(pictures, 51) == 90).all()


def test_one_picture_alone_is_the_usual_one() -> None:
    assert (usual_picture(USUAL[None], 0) == USUAL).all()


def test_an_answer_to_all_actions_alike_counts_too() -> None:
    """Where the choice is settled, the values still tell what was seen."""
    picture = USUAL.copy()
    picture[SPOT] = 250
    found = hide(lambda shown: values(shown)[:, 1:].repeat(1, 2) + torch.tensor([0.0, 5.0]), picture, USUAL)
    assert found.hottest == (8, 20, 12, 24)
    assert found.instead == 1
