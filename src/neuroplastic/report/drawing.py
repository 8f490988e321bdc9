"""Figures by matplotlib, without a display: dendrogram and learning curves, legible in grey."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.ticker import MaxNLocator
from scipy.cluster.hierarchy import dendrogram

from ..analysis.dendrogram import Dendrogram
from ..analysis.study_table import Epoch
from .canvas import canvas, finished
from .document import Figure

BLUE, ORANGE = "#0b4f9c", "#f28e2b"
"""Dark and light, so that they differ in grey too."""


def dendrogram_figure(tree: Dendrogram, agent: str, *, caption: str, weighting: str) -> Figure:
    """Tasks on the left, merged to the right at the UPGMA height."""
    figure = canvas(6.5, 0.9 + 0.42 * len(tree.names))
    axes = figure.add_subplot()
    dendrogram(
        tree.linkage,
        labels=list(tree.names),
        orientation="left",
        ax=axes,
        color_threshold=0,
        above_threshold_color=BLUE,
    )
    for merge in tree.merges:
        axes.axvline(merge.height, color="0.85", linewidth=0.8, zorder=0)
    axes.tick_params(axis="y", labelsize=11)
    axes.set_xlabel("Gower distance at which groups merge (UPGMA)")
    for side in ("top", "left", "right"):
        axes.spines[side].set_visible(False)
    return finished(
        figure,
        f"dendrogram_{agent}",
        caption,
        "Tasks joined far to the right (small distance) share the values of important hyperparameters; the last ones "
        f"to join, on the left, need settings of their own. {weighting}",
    )


Curve = Sequence[Epoch]


def learning_curves(curves: Mapping[str, Mapping[str, Curve]]) -> Figure:
    """One panel per task: mean return after each epoch of the best trials, with a band of one SD."""
    columns = min(3, len(curves))
    rows = -(-len(curves) // columns)
    figure = canvas(3.4 * columns, 2.5 * rows + 0.3)
    styles = {"dnn": (BLUE, "o", "-"), "nfn": (ORANGE, "s", "--")}
    handles = {}
    for place, (task, agents) in enumerate(curves.items()):
        axes = figure.add_subplot(rows, columns, place + 1)
        for agent, epochs in agents.items():
            colour, marker, line = styles.get(agent, ("black", "^", ":"))
            x = [epoch.epoch for epoch in epochs]
            mean = [epoch.mean for epoch in epochs]
            low = [epoch.mean - epoch.sd for epoch in epochs]
            high = [epoch.mean + epoch.sd for epoch in epochs]
            axes.fill_between(x, low, high, color=colour, alpha=0.18, linewidth=0)
            (handle,) = axes.plot(
                x,
                mean,
                line,
                color=colour,
                marker=marker,
                markersize=4,
                markeredgecolor="black",
                markeredgewidth=0.4,
            )
            handles[agent.upper()] = handle
        axes.set_title(task, fontsize=11)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("epoch")
        if place % columns == 0:
            axes.set_ylabel("return")
        axes.spines[["top", "right"]].set_visible(False)
    figure.legend(
        handles.values(), handles.keys(), loc="outside upper center", ncols=len(handles), frameon=False
    )
    return finished(
        figure,
        "learning_curves",
        "Learning curves of the best trials.",
        "Each point is the mean return of the evaluation episodes after an epoch, the band one standard deviation to "
        "either side. A curve that still rises would gain from more epochs.",
    )
