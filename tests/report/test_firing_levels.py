"""Appendix B: firing levels by the network's own arithmetic, and what the figures claim."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import torch

from neuroplastic.report import firing_levels
from neuroplastic.report.firing_levels import FEATURES, RULES, levels, log_firing


@pytest.fixture(scope="module")
def sums() -> torch.Tensor:
    return log_firing(firing_levels._made_up(0), np.array([3, 20, 50]), seed=0)


def test_there_are_256_rules_over_1600_attributes_and_three_observations(sums: torch.Tensor) -> None:
    assert (RULES, FEATURES) == (256, 1600)
    assert sums.shape == (3, 256)
    assert sums.dtype == torch.float64


def test_softmax_levels_by_numpy(sums: torch.Tensor) -> None:
    w = sums.numpy() / FEATURES
    expected = np.exp(w) / np.exp(w).sum(axis=1, keepdims=True)
    assert levels(sums, "mean", norm=False, alpha=1.0) == pytest.approx(expected)


@pytest.mark.parametrize("reduce", ["sum", "mean"])
@pytest.mark.parametrize("norm", [False, True])
@pytest.mark.parametrize("alpha", [1.0, 1.5])
def test_levels_are_shares(sums: torch.Tensor, reduce: str, norm: bool, alpha: float) -> None:
    level = levels(sums, reduce, norm=norm, alpha=alpha)
    assert (level >= 0).all()
    assert level.sum(axis=1) == pytest.approx(1)


def test_what_the_figures_say_holds(sums: torch.Tensor) -> None:
    def firing(reduce: str, norm: bool, alpha: float) -> np.ndarray:
        return (levels(sums, reduce, norm=norm, alpha=alpha) >= firing_levels.LEAST).sum(axis=1)

    assert (firing("sum", False, 1.0) < 30).all()  # the sum lets most rules vanish
    assert (firing("mean", False, 1.0) == RULES).all()
    mean = levels(sums, "mean", norm=False, alpha=1.0)
    assert (mean.max(axis=1) / mean.min(axis=1) < 10).all()  # ... almost alike
    assert (firing("sum", True, 1.0) == RULES).all()
    assert levels(sums, "sum", norm=True, alpha=1.0) == pytest.approx(
        levels(sums, "mean", norm=True, alpha=1.0), rel=0.05
    )
    assert (firing("sum", False, 1.5) <= 3).all()
    assert (firing("mean", False, 1.5) > firing("mean", True, 1.5)).all()


@pytest.mark.slow  # draws four figures of six panels, twice each
def test_the_section_has_a_figure_for_each_way_and_leaves_the_generator_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        firing_levels, "_pictures", lambda *_: (firing_levels._made_up(0), "made-up pictures")
    )
    torch.manual_seed(5)
    state = torch.get_rng_state()
    section = firing_levels.firing_section()
    assert torch.equal(torch.get_rng_state(), state)
    assert [figure.key for figure in section.figures] == [
        "firing_observations",
        "firing_softmax",
        "firing_layer_norm_softmax",
        "firing_entmax",
        "firing_layer_norm_entmax",
    ]
    assert len(section.tables[0].rows) == 8


def test_a_figure_is_drawn_as_png_and_svg(sums: torch.Tensor) -> None:
    figure = firing_levels._draw(firing_levels.VARIANTS[3], sums)
    assert figure.png.startswith(b"\x89PNG")
    assert b"<svg" in figure.svg


def test_pictures_of_the_real_game_are_taken() -> None:
    pytest.importorskip("vizdoom")
    pictures, origin = firing_levels._pictures("BP", 0)
    assert pictures.shape == (firing_levels.FRAMES, 84, 84, 3)
    assert "random play in BP" in origin
    assert len({picture.tobytes() for picture in pictures}) > 10
    assert pictures.any(axis=(1, 2, 3)).all(), "a black picture is none of the game"


def test_without_the_game_the_pictures_are_made_up_and_the_page_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [name for name in sys.modules if name.startswith("neuroplastic.doom")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr("neuroplastic.doom", raising=False)
    monkeypatch.setitem(sys.modules, "vizdoom", None)
    pictures, origin = firing_levels._pictures("BP", 0)
    assert pictures.shape == (firing_levels.FRAMES, 84, 84, 3)
    assert "made-up" in origin
