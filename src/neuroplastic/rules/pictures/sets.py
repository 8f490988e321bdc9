"""Fuzzy sets before and after training, one panel per attribute."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...errors import InputError
from ...network.hierarchy import Hierarchy
from ...network.nfn import NeuroFuzzyNetwork
from ..rule_base import Numbers, RuleBase, Term, Variable
from .style import FAINT, INK, LINES, as_rules, chosen_attributes, figure, shades, short

PANELS = 12
COLUMNS = 4
POINTS = 200
# A set is drawn as far as its membership can be seen.
WIDTHS_SHOWN = 3.0
# Lines for the sets' names over a panel, at least and at most, and a letter's part of its width.
NAME_LINES, MOST_LINES = 3, 7
CHARACTER = 0.0205
# More sets than that before training are drawn so faintly that those after it can be seen.
MANY = 8
# What the bars of a category take of its place, and more names than stand side by side.
BARS = 0.8
UPRIGHT = 5


def plot_sets(
    before: RuleBase | NeuroFuzzyNetwork | Hierarchy | None,
    after: RuleBase | NeuroFuzzyNetwork | Hierarchy,
    *,
    attributes: Sequence[int | str] | None = None,
    feature_names: Sequence[str] | None = None,
    ends: Numbers | None = None,
    categories: Mapping[int, Sequence[str]] | None = None,
) -> Figure:
    """The sets of each attribute before (thin grey, dotted) and after training (by their order from dark to light).

    `before` None draws the sets as they are. Of more than 12 attributes those are drawn whose sets changed most,
    unless `attributes` says which. Rule bases carry their names; `feature_names` is for networks. `ends` (2, D) are
    the least and the greatest value of each attribute in data: sets are drawn between them, where there are values.
    `categories` are those of attributes that are codes, whose sets are bars: between two codes there is nothing.
    """
    new = as_rules(after, feature_names)
    old = None if before is None else as_rules(before, feature_names)
    if old is not None and len(old.inputs) != len(new.inputs):
        raise InputError(
            f"before and after must have the same attributes, got {len(old.inputs)} and {len(new.inputs)}"
        )
    total = len(new.inputs)
    shown = chosen_attributes([variable.name for variable in new.inputs], attributes)
    picked = shown is None and total > PANELS
    if shown is None:
        shown = list(range(total)) if not picked else _most_changed(old, new)
    columns = min(COLUMNS, len(shown))
    rows = math.ceil(len(shown) / columns)
    drawing = figure(max(4.8, 3.0 * columns), 0.9 + 2.1 * rows)
    panels = drawing.subplots(rows, columns, squeeze=False).ravel()
    for panel, attribute in zip(panels, shown, strict=False):
        was, now = None if old is None else old.inputs[attribute], new.inputs[attribute]
        if categories is not None and attribute in categories:
            _draw_categories(panel, was, now, categories[attribute])
            continue
        between = None if ends is None else (float(ends[0, attribute]), float(ends[1, attribute]))
        _draw(panel, was, now, between)
    for panel in panels[len(shown) :]:
        panel.remove()
    for panel in panels[: len(shown) : columns]:
        panel.set_ylabel("membership")
    what = "those whose sets changed most" if old is not None else "those with the most sets"
    note = f" ({len(shown)} of {total} attributes: {what})" if picked else ""
    drawing.suptitle(("Fuzzy sets before and after training" if old is not None else "Fuzzy sets") + note)
    if old is not None:
        handles = [panels[0].plot([], [], color=FAINT, linestyle=":", linewidth=1.6)[0]]
        handles += panels[0].plot([], [], color=INK, linewidth=1.8)
        drawing.legend(
            handles, ["before", "after (by order, dark to light)"], loc="outside lower center", ncols=2
        )
    return drawing


def _most_changed(old: RuleBase | None, new: RuleBase) -> list[int]:
    """The attributes to draw, in their own order."""
    if old is None:
        change = [float(len(variable.terms)) for variable in new.inputs]
    else:
        change = [_change(a, b) for a, b in zip(old.inputs, new.inputs, strict=True)]
    return sorted(np.argsort(-np.array(change), kind="stable")[:PANELS].tolist())


def _change(old: Variable, new: Variable) -> float:
    """How far each new set is from the nearest old one, in widths, the logarithm of the widths' ratio counted in."""
    if not old.terms or not new.terms:
        return float(len(old.terms) != len(new.terms))
    return sum(
        min(abs(a.center - b.center) / b.width + abs(math.log(a.width / b.width)) for b in old.terms)
        for a in new.terms
    )


def _draw(panel: Axes, old: Variable | None, new: Variable, ends: tuple[float, float] | None = None) -> None:
    terms = [*new.terms, *(() if old is None else old.terms)]
    _frame(panel, new)
    if not terms:
        return
    low = min(term.center - WIDTHS_SHOWN * term.width for term in terms)
    high = max(term.center + WIDTHS_SHOWN * term.width for term in terms)
    if ends is not None and ends[0] < ends[1]:
        low, high = ends
    before = () if old is None else old.terms
    many = len(before) > MANY
    for term in before:
        panel.plot(
            *_curve(term, low, high),
            color=FAINT,
            linestyle=":",
            linewidth=0.8 if many else 1.6,
            alpha=0.5 if many else 1,
        )
    colors = shades(len(new.terms)) if new.terms else []  # simplifying may have left none
    for place, (term, color) in enumerate(zip(new.terms, colors, strict=True)):
        x, y = _curve(term, low, high)
        panel.plot(x, y, color=color, linestyle=LINES[place % len(LINES)], linewidth=1.8)
        panel.fill_between(x, y, color=color, alpha=0.12, linewidth=0)
    panel.set_xlim(low, high)
    _name_terms(panel, new)


def _draw_categories(panel: Axes, old: Variable | None, new: Variable, categories: Sequence[str]) -> None:
    codes = np.arange(len(categories), dtype=float)
    _frame(panel, new)
    for term in () if old is None else old.terms:
        panel.plot(codes, _membership(term, codes), color=FAINT, linestyle="", marker="_", markersize=12)
    wide = BARS / max(len(new.terms), 1)
    colors = shades(len(new.terms)) if new.terms else []
    for place, (term, color) in enumerate(zip(new.terms, colors, strict=True)):
        left = codes - BARS / 2 + place * wide
        panel.bar(left, _membership(term, codes), wide, align="edge", color=color)
    upright = len(categories) > UPRIGHT
    panel.set_xticks(
        codes, [short(name) for name in categories], rotation=90 if upright else 0, fontsize="small"
    )
    panel.set_xlim(-0.5, len(categories) - 0.5)


def _frame(panel: Axes, variable: Variable) -> None:
    panel.set_title(short(variable.name), fontsize="medium")
    panel.set_ylim(0, 1.04 + 0.125 * NAME_LINES)
    panel.set_yticks([0, 0.5, 1])
    if not variable.terms:  # simplifying, or a price on premises, has left none
        panel.text(0.5, 0.9, "no sets", transform=panel.transAxes, ha="center", va="center")


def _membership(term: Term, x: Numbers) -> Numbers:
    return np.exp(-0.5 * ((x - term.center) / term.width) ** 2)


def _curve(term: Term, low: float, high: float) -> tuple[Numbers, Numbers]:
    """Points of a set over the panel; a narrow one is drawn as finely as a wide one."""
    near = term.center + term.width * np.linspace(-4, 4, 81)
    x = np.sort(np.concatenate([np.linspace(low, high, POINTS), near[(near > low) & (near < high)]]))
    return x, _membership(term, x)


def _name_terms(panel: Axes, variable: Variable) -> None:
    """The sets' names over their peaks, each on the lowest line where it runs into no other; else none."""
    low, high = panel.get_xlim()
    ends = [-math.inf] * MOST_LINES
    for term in variable.terms:
        name = short(term.name)
        half = 0.5 * len(name) * CHARACTER * (high - low)
        center = min(max(term.center, low + half), high - half)
        free = [line for line, end in enumerate(ends) if center - half > end]
        if free:
            height = 1.04 + 0.12 * free[0]
            panel.text(center, height, name, ha="center", va="bottom", fontsize=7, color=INK)
            ends[free[0]] = center + half + CHARACTER * (high - low)
    used = sum(end > -math.inf for end in ends)
    panel.set_ylim(0, 1.04 + 0.125 * max(used, NAME_LINES))
