"""How strongly the rules fire: by number and sorted."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from ...errors import InputError
from ..explanations.explanation import Explanation
from ..rule_base import Numbers
from .style import AGAINST, FOR, INK, figure


def plot_firing(firing: Explanation | ArrayLike, *, log: bool = False) -> Figure:
    """Mean firing level of each rule, by its number (left) and sorted (right); and in how many cases it fired at all.

    `firing` is an explanation, or levels (B, U) or (U,). With `log`, rules that never fire have no bar; the
    title counts them.
    """
    levels = _levels(firing)
    mean, fired = levels.mean(axis=0), (levels > 0).mean(axis=0)
    count = len(mean)
    drawing = figure(float(np.clip(5.5 + 0.05 * count, 8, 13)), 3.9)
    left, right = drawing.subplots(1, 2, sharey=True)
    order = np.argsort(-mean, kind="stable")
    _bars(left, mean, fired, log)
    _bars(right, mean[order], fired[order], log)
    left.set(xlabel="rule", ylabel="firing level" + (" (log scale)" if log else ""), title="by number")
    right.set(xlabel="rules from the strongest", title="sorted")
    if count <= 20:
        right.set_xticks(range(1, count + 1), [str(rule + 1) for rule in order])
        left.set_xticks(range(1, count + 1))
        right.set_xlabel("rule")
    never = int((mean == 0).sum())
    case = "one observation" if len(levels) == 1 else f"the mean of {len(levels)} observations"
    drawing.suptitle(f"Firing of {count} rules, {case}; {never} never fired")
    handles, labels = left.get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside lower center", ncols=2)
    return drawing


def _levels(firing: Explanation | ArrayLike) -> Numbers:
    if isinstance(firing, Explanation):
        levels = np.zeros((len(firing), len(firing.rules)))
        levels[np.repeat(np.arange(len(firing)), np.diff(firing.starts)), firing.fired] = firing.firing
    else:
        levels = np.atleast_2d(np.asarray(firing, dtype=np.float64))
    if levels.ndim != 2 or not levels.size:
        raise InputError(
            f"firing must be levels (B, U) of at least one observation, got shape {levels.shape}"
        )
    if not (np.isfinite(levels).all() and (levels >= 0).all()):
        raise InputError("firing levels must be finite and at least 0")
    return levels


def _bars(panel: Axes, mean: Numbers, fired: Numbers, log: bool) -> None:
    at = np.arange(1, len(mean) + 1)
    panel.bar(at, mean, color=FOR, width=0.8, label="mean level")
    panel.plot(
        at,
        np.where(fired > 0, fired, np.nan),
        linestyle="none",
        marker="o",
        markersize=float(np.clip(120 / len(mean), 2.5, 5)),
        color=AGAINST,
        markeredgecolor=INK,
        markeredgewidth=0.6,
        label="share of observations in which it fires",
    )
    if log:
        panel.set_yscale("log", nonpositive="clip")
        least = mean[mean > 0].min() if (mean > 0).any() else 1e-3
        panel.set_ylim(10 ** np.floor(np.log10(least)) / 1.5, 2)
    panel.set_xlim(0.2, len(mean) + 0.8)
