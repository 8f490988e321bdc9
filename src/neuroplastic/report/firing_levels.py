"""Appendix B: firing levels of 256 random rules over 1600 attributes for three pictures of a game."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ..errors import MissingPackageError
from ..fuzzy.firing import Firing, RuleWeights, firing_levels
from ..network.encoder import FEATURES, PictureEncoder
from ..network.nfn import NeuroFuzzyNetwork
from .canvas import canvas, finished
from .document import Cell, Figure, Section, Table
from .drawing import BLUE, ORANGE

RULES = 256
FRAMES = 64
"""Pictures that set the encoder's batch norm; three of them are shown."""
LEAST = 1.4e-45
"""The smallest number above 0 in single precision: below it a rule does not fire at all."""

STYLES: dict[str, dict[str, Any]] = {
    "sum": {
        "linestyle": "",
        "marker": "o",
        "markersize": 5.5,
        "markerfacecolor": "none",
        "markeredgecolor": BLUE,
        "markeredgewidth": 0.9,
    },
    "mean": {"linestyle": "", "marker": "s", "markersize": 2.6, "color": ORANGE},
}

Pictures = NDArray[np.uint8]
Levels = NDArray[np.float64]


@dataclass(frozen=True)
class Variant:
    """One figure: what happens between the log-firing and the firing level."""

    key: str
    layer_norm: bool
    alpha: float
    caption: str
    how_to_read: str


VARIANTS = (
    Variant(
        "firing_softmax",
        False,
        1.0,
        "Softmax, no layer norm.",
        "With the sum one rule takes all and the rest vanish; the mean lets all rules fire, but almost alike.",
    ),
    Variant(
        "firing_layer_norm_softmax",
        True,
        1.0,
        "Softmax after layer norm.",
        "All rules fire and keep their differences; sum and mean are nearly the same, since layer norm undoes the "
        "division by the number of attributes.",
    ),
    Variant(
        "firing_entmax",
        False,
        1.5,
        "1.5-entmax, no layer norm.",
        "With the sum one or two rules fire; with the mean most do, told apart more clearly than by softmax.",
    ),
    Variant(
        "firing_layer_norm_entmax",
        True,
        1.5,
        "1.5-entmax after layer norm.",
        "More rules fire than with the sum alone, but the rest get exactly 0. (The paper saw no sparsity here.)",
    ),
)


def firing_section(scenario: str = "DTC", *, seed: int = 0) -> Section:
    """The section of the firing-level figures, with pictures of that scenario where the game is installed."""
    pictures, origin = _pictures(scenario, seed)
    shown = np.sort(np.random.default_rng(seed).choice(len(pictures), 3, replace=False))
    sums = log_firing(pictures, shown, seed=seed)
    figures = [_draw(variant, sums) for variant in VARIANTS]
    intro = (
        f"A random rule base of {RULES} rules, each with {FEATURES} attributes, and three observations (a), (b), (c): "
        f"{origin}, seen through a random picture encoder whose batch norm was set by {len(pictures)} such pictures. "
        "Fuzzy sets span the range of the features. Blue rings: log-memberships summed (Eq. 6); orange "
        "squares: averaged (Eq. 12)."
    )
    return Section(
        "Firing levels (Appendix B)", (_observations(pictures[shown]), *figures, _counts(sums)), (intro,)
    )


@torch.no_grad()
def log_firing(pictures: Pictures, shown: NDArray[np.int64], *, seed: int) -> torch.Tensor:
    """Log-firing as a sum (Eq. 6) of the random rules for the pictures shown, (3, 256) in double precision."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        encoder = PictureEncoder(dropout=0.0)
        for norm in encoder.norms:
            assert isinstance(norm, torch.nn.BatchNorm2d)
            norm.momentum = 1.0  # the running statistics become those of the next batch
        encoder.train()(torch.from_numpy(pictures))
        features = encoder.eval()(torch.from_numpy(pictures)).double()
        network = NeuroFuzzyNetwork(
            FEATURES,
            1,
            RULES,
            consequent="constant",
            neurogenesis=None,
            input_range=(float(features.min()), float(features.max())),
            dtype=torch.float64,
        )
        # The network's own log_firing may be the mean; the antecedent's is the sum.
        sums: torch.Tensor = network.eval().antecedent.log_firing(features[torch.from_numpy(shown)])
    return sums


def levels(sums: torch.Tensor, reduce: str, *, norm: bool, alpha: float) -> Levels:
    """Firing levels (B, U) from summed log-firings by one of the paper's ways."""
    firing = Firing(reduce=reduce, layer_norm=norm, alpha=alpha)
    result: Levels = firing_levels(sums, FEATURES, firing, RuleWeights(), alpha).numpy()
    return result


def _draw(variant: Variant, sums: torch.Tensor) -> Figure:
    both = {kind: levels(sums, kind, norm=variant.layer_norm, alpha=variant.alpha) for kind in STYLES}
    fired = np.concatenate([level[level >= LEAST] for level in both.values()])
    bottom, top = float(fired.min()), float(fired.max())
    margin = max((top / bottom) ** 0.06, 1.5)
    figure = canvas(7.5, 6.4)
    axes = figure.subplots(3, 2, sharex=True, sharey=True)
    handles = {}
    for row, letter in enumerate("abc"):
        for kind, style in STYLES.items():
            level = both[kind][row]
            visible = np.where(level >= LEAST, level, np.nan)
            # Rings around the squares: where both lie on each other, both are seen, in grey too.
            (dots,) = axes[row, 0].plot(visible, **style)
            # Weakest first, so that rules that do not fire leave a gap on the left.
            axes[row, 1].plot(_ascending(visible), **style)
            handles[f"{kind} ({'Eq. 6' if kind == 'sum' else 'Eq. 12'})"] = dots
        axes[row, 0].set_ylabel(f"({letter})  firing level")
    axes[0, 0].set_title("(1) Unsorted", fontsize=11)
    axes[0, 1].set_title("(2) Sorted", fontsize=11)
    for axis in axes.flat:
        axis.set_yscale("log")
        axis.set_xlim(-4, RULES + 3)
        axis.set_ylim(bottom / margin, top * margin)
        axis.grid(color="0.9", linewidth=0.6)
        axis.set_axisbelow(True)
    for axis in axes[2]:
        axis.set_xlabel("rule")
    figure.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=2, frameon=False)
    return finished(figure, variant.key, variant.caption, variant.how_to_read)


def _ascending(visible: Levels) -> Levels:
    """Sorted with what is not visible (NaN) first; NumPy would put it last."""
    hidden = np.isnan(visible)
    return np.concatenate([visible[hidden], np.sort(visible[~hidden])])


def _observations(pictures: Pictures) -> Figure:
    figure = canvas(7.5, 2.95)
    axes = figure.subplots(1, 3)
    for axis, picture, letter in zip(axes, pictures, "abc", strict=True):
        axis.imshow(picture, interpolation="nearest")
        axis.set_title(f"({letter})", fontsize=11)
        axis.set_xticks([])
        axis.set_yticks([])
    return finished(
        figure,
        "firing_observations",
        "The three observations.",
        "As an agent sees them: 84 x 84 pixels. The figures below show the same three.",
    )


def _counts(sums: torch.Tensor) -> Table:
    rows = []
    for variant in VARIANTS:
        for kind in ("sum", "mean"):
            level = levels(sums, kind, norm=variant.layer_norm, alpha=variant.alpha)
            firing = (level >= LEAST).sum(axis=1)
            name = ("layer norm, " if variant.layer_norm else "") + (
                "softmax" if variant.alpha == 1 else "1.5-entmax"
            )
            rows.append(
                (
                    Cell(name if kind == "sum" else ""),
                    Cell(kind),
                    Cell(", ".join(map(str, firing))),
                    Cell(", ".join(f"{value:.2g}" for value in level.max(axis=1))),
                )
            )
    return Table(
        "firing_levels",
        f"How many of the {RULES} rules fire.",
        "Rules with a firing level above 0 in single precision, and the greatest firing level, for (a), (b) and (c). "
        f"Firing levels sum to 1: if all rules fired alike, each would have {1 / RULES:.2g}.",
        ("Normalisation", "Premises", "Rules that fire", "Greatest level"),
        tuple(rows),
        tuple(range(2, len(rows), 2)),
    )


def _pictures(scenario: str, seed: int) -> tuple[Pictures, str]:
    """Pictures of random play, or made-up ones where the game is not there; and what they are."""
    from .. import doom

    key = doom.scenario(scenario).key
    try:
        return _played(key, seed), f"pictures of random play in {key}"
    except MissingPackageError:
        reason = "since the game is not installed (pip install 'neuroplastic[doom]')"
        return _made_up(seed), f"made-up pictures, {reason}"
    except doom.EngineError as error:
        return _made_up(seed), f"made-up pictures, since the game did not start ({error})"


def _played(key: str, seed: int) -> Pictures:
    from .. import doom

    generator = np.random.default_rng(seed)
    pictures: list[Pictures] = []
    actions = doom.scenario(key).action_count
    env = doom.make(key, seed=seed)
    try:
        env.reset()
        while len(pictures) < FRAMES:
            picture, _, ended, cut, _ = env.step(int(generator.integers(actions)))
            if ended or cut:  # the engine draws nothing after the end: the picture is the one before
                env.reset()
            else:
                pictures.append(picture)
    finally:
        env.close()
    return np.stack(pictures)


def _made_up(seed: int) -> Pictures:
    """Smooth random colours: a coarse grid blown up to 84 x 84."""
    coarse = np.random.default_rng(seed).integers(0, 256, (FRAMES, 7, 7, 3), dtype=np.uint8)
    return coarse.repeat(12, axis=1).repeat(12, axis=2)
