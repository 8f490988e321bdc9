"""Where in a picture a decision comes from."""

from __future__ import annotations

import textwrap

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.patheffects import Normal, Stroke

from ..explanations.regions import PictureExplanation
from ..rule_base import Numbers
from .style import MAP, figure

# Of the things that an encoder looks for, so many are numbered.
NUMBERED = 8


def plot_regions(explained: PictureExplanation) -> Figure:
    """The picture, and the heat of what speaks for the target over it, with the hottest square framed in both."""
    region = explained.region()
    assert explained.heat is not None  # region() refuses that
    drawing = figure(9, 4.6)
    left, right = drawing.subplots(1, 2)
    pixels = explained.shown
    left.imshow(pixels)
    left.set_title("what the network saw" if explained.things is None else "what the network saw, and where")
    if explained.things is not None:
        _mark(left, explained.things)
    grey = pixels.mean(axis=2)
    right.imshow(grey, cmap="gray", vmin=0, vmax=255)
    heat = np.maximum(explained.heat, 0)
    image = right.imshow(heat, cmap=MAP, alpha=0.65, vmin=0, vmax=max(float(heat.max()), 1e-12))
    right.set_title(f"what counted ({explained.method})" if heat.any() else "nothing in it speaks for it")
    drawing.colorbar(image, ax=right, label="speaks for it", shrink=0.85)
    for panel in (left, right):
        for color, line in (("black", 3.0), ("white", 1.2)) if region else ():
            top, lead, bottom, end = region or (0, 0, 0, 0)
            panel.add_patch(
                Rectangle(
                    (lead - 0.5, top - 0.5),
                    end - lead,
                    bottom - top,
                    fill=False,
                    edgecolor=color,
                    linewidth=line,
                )
            )
        panel.set_xticks([])
        panel.set_yticks([])
    words = f"{explained.action_name} = {explained.values[explained.action]:.4g}; heat: {explained.target}"
    drawing.suptitle("\n".join(textwrap.wrap(words, 90)))
    return drawing


def _mark(panel: Axes, things: Numbers) -> None:
    """A ring around each thing that is looked for, larger where it stands out, and the numbers of the clearest."""
    columns, rows, strengths = things.T
    sizes = 5 + 75 * (np.maximum(strengths, 0) / max(float(strengths.max()), 1e-12)) ** 2
    for color, line in (("black", 2.2), ("white", 1.0)):
        panel.scatter(columns, rows, s=sizes, facecolors="none", edgecolors=color, linewidths=line)
    for thing in np.argsort(-strengths)[:NUMBERED]:
        panel.annotate(
            f"{thing + 1}",
            (columns[thing], rows[thing]),
            xytext=(4, 4),
            textcoords="offset points",
            color="white",
            fontsize=7,
            path_effects=[Stroke(linewidth=2, foreground="black"), Normal()],
        )
