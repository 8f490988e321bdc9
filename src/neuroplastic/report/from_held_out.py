"""Tables and figures of how good a model is: beside plain models, where it errs, how sure it may be, what matters."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from ..learn.judging.comparison import Comparison
from ..learn.judging.held_out import HeldOut
from ..rules.pictures.style import short
from .canvas import canvas, finished
from .document import Cell, Figure, Table, text_cells

# More classes than this make no table that anybody reads; then the worst confusions are listed.
MOST_CLASSES = 12
CONFUSIONS = 15
# Columns and points that are drawn.
COLUMNS, POINTS = 20, 2000
INK, FAINT = "#0b4f9c", "0.6"
# Measures that models are always compared by; where classes are uneven, others have tables beside theirs.
MAIN = ("accuracy", "R²")


def comparison_table(comparison: Comparison) -> Table:
    """All contenders, the best first, ours marked."""
    rows = []
    for one in comparison.ranked:
        ours = one is comparison.rules
        cells = (
            f"▶ {one.name}" if ours else one.name,
            f"{one.mean:.3f}",
            f"{one.spread:.3f}",
            *(f"{score:.3f}" for score in one.folds),
        )
        rows.append(tuple(Cell(text, bold=ours, shade=0.12 if ours else 0.0) for text in cells))
    header = ("model", "mean", "SD", *(f"fold {k + 1}" for k in range(len(comparison.rules.folds))))
    how = "Every model was scored on the same rows, which it had not seen. Gradient boosting is hard to beat on tables."
    name = "-".join(
        ["baselines", *([] if comparison.measure in MAIN else comparison.measure.lower().split())]
    )
    return Table(name, f"Is it worth it? {comparison.measure} of plain models.", how, header, tuple(rows))


def confusion_table(held_out: HeldOut) -> Table:
    """How many rows of each class were taken for which."""
    found, classes = held_out.confusion, held_out.classes
    if len(classes) > MOST_CLASSES:
        return _worst_confusions(held_out)
    rows = []
    for k, name in enumerate(classes):
        share = found[k] / max(int(found[k].sum()), 1)
        counted = (
            Cell(str(count), bold=j == k, shade=0.5 * float(share[j])) for j, count in enumerate(found[k])
        )
        area = f"{held_out.areas[k]:.3f}" if held_out.areas else "-"
        rows.append((Cell(name), *counted, Cell(f"{share[k]:.0%}"), Cell(area)))
    header = ("true class", *(f"said {name}" for name in classes), "found", "ROC AUC")
    how = (
        "A row is a class, a column what was said of its rows by models that had not seen them; the diagonal is right. "
        "ROC AUC: how often a row of the class is rated higher than one of another (0.5 is chance)."
    )
    return Table("confusion", "What was taken for what.", how, header, tuple(rows))


def _worst_confusions(held_out: HeldOut) -> Table:
    found = held_out.confusion.copy()
    np.fill_diagonal(found, 0)
    order = np.argsort(-found, axis=None, kind="stable")[:CONFUSIONS]
    pairs = [divmod(int(place), len(found)) for place in order]
    rows = [
        text_cells(held_out.classes[true], held_out.classes[said], str(found[true, said]))
        for true, said in pairs
        if found[true, said]
    ]
    how = (
        f"The most common errors among {len(held_out.classes)} classes, by models that had not seen the rows."
    )
    return Table("confusion", "What was taken for what.", how, ("true class", "said", "rows"), tuple(rows))


def calibration_figure(held_out: HeldOut) -> Figure:
    """What was said to be likely, beside how often it came."""
    figure = canvas(3.6, 3.0)
    axes = figure.add_subplot()
    axes.plot([0, 1], [0, 1], color=FAINT, linestyle=":", linewidth=1.2)
    said, found = ([getattr(part, name) for part in held_out.calibration] for name in ("said", "found"))
    axes.plot(said, found, color=INK, marker="o", markersize=5, linewidth=1.4)
    two = len(held_out.classes) == 2
    what = f"'{held_out.classes[1]}'" if two else "the predicted class"
    _labelled(axes, f"said probability of {_short(what)}", "how often it was so")
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    how = (
        "Each point is an equal part of the rows. On the dotted line probabilities can be taken at their word. "
        f"On average they are off by {100 * held_out.calibration_error:.1f} points."
    )
    return finished(figure, "calibration", "Can the probabilities be trusted?", how)


def scatter_figure(held_out: HeldOut, target: str) -> Figure:
    """Predicted against true numbers."""
    places = np.linspace(0, len(held_out.true) - 1, min(len(held_out.true), POINTS)).astype(int)
    true, said = held_out.true[places].astype(float), held_out.predicted[places].astype(float)
    figure = canvas(4.6, 4.2)
    axes = figure.add_subplot()
    ends = [float(min(true.min(), said.min())), float(max(true.max(), said.max()))]
    axes.plot(ends, ends, color=FAINT, linestyle=":", linewidth=1.2)
    axes.plot(true, said, "o", color=INK, markersize=3, alpha=0.5, markeredgewidth=0)
    _labelled(axes, f"true {_short(target)}", f"predicted {_short(target)}")
    how = "A point is a row, predicted by a model that had not seen it. The nearer to the dotted line, the better."
    return finished(figure, "scatter", "Predicted against true.", how)


def importance_figure(held_out: HeldOut, measure: str) -> Figure:
    """How much the score falls as a column is shuffled."""
    ranked = held_out.ranked_importance[:COLUMNS][::-1]
    figure = canvas(6.5, 0.9 + 0.27 * len(ranked))
    axes = figure.add_subplot()
    falls, spread = [fall for _, fall, _ in ranked], [sd for _, _, sd in ranked]
    places = range(len(ranked))
    axes.barh(places, falls, xerr=spread, color=INK, ecolor=FAINT, height=0.65)
    axes.set_yticks(places, [_short(name) for name, _, _ in ranked])
    axes.axvline(0, color=FAINT, linewidth=0.8)
    _labelled(axes, f"fall of {measure}", "")
    left = len(held_out.ranked_importance) - len(ranked)
    more = f" {left} columns that matter less are not drawn." if left else ""
    how = (
        f"How much {measure} falls on rows not seen if the values of a column are shuffled among them, mean and SD "
        f"over the folds. Columns that say the same stand in for each other, and so seem to matter less.{more}"
    )
    return finished(figure, "importance", "Which columns matter.", how)


def _labelled(axes: Axes, across: str, up: str) -> None:
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.spines[["top", "right"]].set_visible(False)


def _short(name: str) -> str:
    return short(" ".join(name.split()))
