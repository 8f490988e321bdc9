"""Which rule uses which set of which attribute: rules down, attributes across."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import Patch, Rectangle

from ...network.hierarchy import Hierarchy
from ...network.nfn import NeuroFuzzyNetwork
from ..names import MOST_WORDS
from ..rule_base import IGNORED, Indices, Numbers, RuleBase
from .style import DARK, HATCH, LIGHT, as_rules, chosen_attributes, colormap, figure, short

# Up to so many cells each has its set's name written in it.
CELLS_NAMED = 160
# A longer name than this takes two lines of its cell.
CELL_LETTERS = 10
ATTRIBUTES_NAMED = 40
RULES_NUMBERED = 40
TICKS = 10
# Longer names than this stand upright; a letter then takes so many inches.
LEVEL_LETTERS = 6
LETTER = 0.09


def plot_rule_map(
    rules: RuleBase | NeuroFuzzyNetwork | Hierarchy,
    *,
    attributes: Sequence[int | str] | None = None,
    feature_names: Sequence[str] | None = None,
) -> Figure:
    """Rules by attributes; the colour is the place of the premise's set among the attribute's, low dark, high light.

    Where a rule asks nothing of an attribute the cell is white (hatched, if large). Small maps name every set.
    """
    base = as_rules(rules, feature_names)
    names = [variable.name for variable in base.inputs]
    shown = chosen_attributes(names, attributes) or list(range(len(names)))
    premises = base.premises[:, shown]
    counts = np.array([len(base.inputs[i].terms) for i in shown])
    count, width = premises.shape
    named = premises.size <= CELLS_NAMED
    labels = [short(names[i]) for i in shown] if width <= ATTRIBUTES_NAMED else []
    upright = max(map(len, labels), default=0) > LEVEL_LETTERS
    # Names that stand upright take their room from the panel, and from the key beside it.
    room = LETTER * max(map(len, labels)) if upright else 0.0
    drawing = figure(
        float(np.clip(2.6 + width * (0.95 if named else 0.28), 5.5, 14)),
        float(np.clip(1.8 + count * (0.34 if named else 0.2), 3.2, 10)) + room,
    )
    panel = drawing.subplots()
    place = _places(premises, counts)
    image = panel.imshow(place, cmap=_colours(), vmin=0, vmax=1, aspect="auto", interpolation="nearest")
    part = f"{width} of {len(names)}" if width < len(names) else f"{width}"
    panel.set_title(f"Sets that {count} rules ask for, {part} attributes")
    _ticks(panel, labels, upright, premises.shape)
    if named:
        _name_cells(panel, base, shown, place)
    words = {tuple(term.name for term in base.inputs[i].terms) for i in shown}
    _key(drawing, panel, image, words, bool((premises == IGNORED).any()))
    return drawing


def _places(premises: Indices, counts: Indices) -> Numbers:
    """Place of each premise's set among its attribute's, 0 to 1; NaN where nothing is asked."""
    place = np.where(counts > 1, premises / np.maximum(counts - 1, 1), 0.5)
    return np.where(premises == IGNORED, np.nan, place)


def _colours() -> ListedColormap:
    return ListedColormap(colormap()(np.linspace(DARK, LIGHT, 256)))


def _ticks(panel: Axes, labels: list[str], upright: bool, shape: tuple[int, ...]) -> None:
    """Rules by number, attributes by label, or by number where there are too many for labels; shape (U, D)."""
    count, width = shape
    if labels:
        panel.set_xticks(range(width), labels, rotation=90 if upright else 0)
        panel.set_xlabel("attribute")
    else:
        at = np.unique(np.linspace(0, width - 1, TICKS).round().astype(int))
        panel.set_xticks(at, [str(i + 1) for i in at])
        panel.set_xlabel("attribute, by number")
    step = 1 if count <= RULES_NUMBERED else int(np.ceil(count / TICKS))
    rows = range(0, count, step)
    panel.set_yticks(list(rows), [str(row + 1) for row in rows])
    panel.set_ylabel("rule")


def _name_cells(panel: Axes, base: RuleBase, shown: list[int], place: Numbers) -> None:
    colours = _colours()
    for row in range(len(base)):
        for column, attribute in enumerate(shown):
            term = base.premises[row, attribute]
            if term == IGNORED:
                cell = Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, hatch=HATCH, linewidth=0)
                cell.set_edgecolor("lightgrey")
                panel.add_patch(cell)
                continue
            red, green, blue, _ = colours(place[row, column])
            ink = "black" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.45 else "white"
            name = short(base.inputs[attribute].terms[term].name, 14)
            if len(name) > CELL_LETTERS:
                name = name.replace(" ", "\n", 1)
            panel.text(column, row, name, ha="center", va="center", color=ink, fontsize=7)


def _key(drawing: Figure, panel: Axes, image: AxesImage, words: set[tuple[str, ...]], ignored: bool) -> None:
    """A key of set names where those of all attributes are the same, else a scale from lowest to highest."""
    handles = []
    names = words.pop() if len(words) == 1 else ()
    if 1 <= len(names) <= MOST_WORDS:
        place = _places(np.arange(len(names))[:, None], np.array([len(names)]))[:, 0]
        handles = [
            Patch(facecolor=tuple(image.to_rgba(p)), label=n) for p, n in zip(place, names, strict=True)
        ]
    else:
        bar = drawing.colorbar(image, ax=panel, ticks=[0, 0.5, 1], shrink=0.9)
        bar.ax.set_yticklabels(["lowest", "middle", "highest"])
        bar.set_label("set of the attribute")
    if ignored:
        handles.append(Patch(facecolor="white", edgecolor="grey", hatch=HATCH, label="not asked"))
    if handles:
        drawing.legend(handles=handles[::-1], loc="outside right upper", title="set")
