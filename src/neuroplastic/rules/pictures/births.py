"""When and where fuzzy sets were born."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ...errors import ConfigError
from ...network.growth import Birth
from ...network.nfn import NeuroFuzzyNetwork
from .style import FOR, INK, MAP, figure, short

ATTRIBUTES_NAMED = 30
# More dots than this are small and have no outline.
OUTLINED = 300


def plot_births(
    births: Sequence[Birth] | NeuroFuzzyNetwork,
    *,
    attributes: int | None = None,
    feature_names: Sequence[str] | None = None,
) -> Figure:
    """Births of sets over the training batches: their number so far (above) and at which attribute each lies (below).

    A dot's colour is the new set's centre, its size how many observations asked for it. `attributes` is their
    number, where `births` is the list of them and not the network (default: as many as were born at).
    """
    if isinstance(births, NeuroFuzzyNetwork):
        attributes, births = births.in_features, births.births
    if feature_names is not None:
        attributes = len(feature_names) if attributes is None else attributes
        if len(feature_names) != attributes:
            raise ConfigError(f"feature_names must name all {attributes} features, got {len(feature_names)}")
    if attributes is None:
        attributes = max((birth.attribute for birth in births), default=0) + 1
    named = attributes <= ATTRIBUTES_NAMED
    drawing = figure(8, float(np.clip(3.4 + 0.24 * attributes, 4.5, 8)) if named else 6.5)
    above, below = drawing.subplots(2, 1, sharex=True, height_ratios=(1, 2))
    steps = np.array(sorted(birth.step for birth in births))
    drawing.suptitle(f"{len(births)} fuzzy sets born in {attributes} attributes")
    above.set_ylabel("sets born")
    below.set(xlabel="training batch", ylabel="attribute" if named else "attribute, by number")
    if named:
        words = feature_names or [f"x{number + 1}" for number in range(attributes)]
        below.set_yticks(range(attributes), [short(name) for name in words])
    else:
        at = np.unique(np.linspace(0, attributes - 1, 9).round().astype(int))
        below.set_yticks(at, [str(i + 1) for i in at])
    below.set_ylim(attributes - 0.5, -0.5)
    above.yaxis.set_major_locator(MaxNLocator(integer=True))
    below.xaxis.set_major_locator(MaxNLocator(integer=True))
    if not len(births):
        below.text(0.5, 0.5, "no set was born", transform=below.transAxes, ha="center", va="center")
        return drawing
    above.step([0, *steps], range(len(steps) + 1), where="post", color=FOR, linewidth=1.8)
    above.set_ylim(0, None)
    above.margins(x=0.03)
    counts = np.array([birth.count for birth in births], dtype=np.float64)
    many_dots = len(births) > OUTLINED
    scale = 0.12 if many_dots else 1.0
    dots = below.scatter(
        [birth.step for birth in births],
        [birth.attribute for birth in births],
        c=[birth.center for birth in births],
        s=scale * (18 + 90 * counts / counts.max()),
        cmap=MAP,
        edgecolors=INK,
        linewidths=0.0 if many_dots else 0.6,
    )
    drawing.colorbar(dots, ax=below, label="centre of the set")
    few, many = int(counts.min()), int(counts.max())
    sizes = sorted({few, many})
    handles = [
        below.scatter([], [], s=scale * (18 + 90 * n / many), facecolors="none", edgecolors=INK)
        for n in sizes
    ]
    labels = [f"{n} observations asked" for n in sizes]
    drawing.legend(handles, labels, loc="outside lower center", ncols=len(sizes))
    return drawing
