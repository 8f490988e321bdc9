"""What all pictures share: figures without global state, colours ordered by lightness, names that fit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...errors import ConfigError, InputError, MissingPackageError
from ...network.hierarchy import Hierarchy
from ...network.nfn import NeuroFuzzyNetwork
from ..reading import rule_base
from ..rule_base import RuleBase

try:
    import matplotlib
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure
except ImportError as missing:
    raise MissingPackageError(
        "pictures of rules need matplotlib: pip install 'neuroplastic[rules]'"
    ) from missing

# Ordered by lightness, so it stays ordered in grey; the ends are left out: the last is too light for lines.
MAP = "viridis"
DARK, LIGHT = 0.0, 0.85
INK, FAINT = "#222222", "#8a8a8a"
FOR, AGAINST = "#2d4a7a", "#d8c45a"
"""dark for what speaks for, light and hatched for what speaks against"""
HATCH = "////"
# Dotted is left out: it stands for what was before.
LINES = ("-", "--", "-.", (0, (6, 1.5, 1, 1.5, 1, 1.5)))
NAME_LENGTH = 26


def figure(width: float, height: float) -> Figure:
    """A figure of its own, in inches, laid out so that nothing is cut off."""
    return Figure(figsize=(width, height), layout="constrained")


def colormap() -> Colormap:
    """The colours in use."""
    return matplotlib.colormaps[MAP]


def shades(count: int) -> list[tuple[float, float, float, float]]:
    """So many colours from dark to light."""
    places = np.linspace(DARK, LIGHT, count) if count > 1 else [DARK][:count]
    return [colormap()(float(place)) for place in places]  # type: ignore[misc]


def short(name: str, length: int = NAME_LENGTH) -> str:
    """A name that fits beside a picture: a long one loses its middle, for its ends tell it from others."""
    if len(name) <= length:
        return name
    front = (length - 1) // 2
    return name[:front].rstrip() + "…" + name[len(name) - (length - 1 - front) :].lstrip()


def as_rules(
    given: RuleBase | NeuroFuzzyNetwork | Hierarchy, feature_names: Sequence[str] | None
) -> RuleBase:
    """The rule base to draw, read off a network where need be."""
    if not isinstance(given, RuleBase):
        return rule_base(given, feature_names=feature_names)
    if feature_names is not None:
        raise ConfigError("a rule base has its names already; give feature_names with a network only")
    return given


def chosen_attributes(names: Sequence[str], wanted: Sequence[int | str] | None) -> list[int] | None:
    """Attributes given by index or name as indices; None where none were given."""
    if wanted is None:
        return None
    found = []
    for one in wanted:
        if isinstance(one, str) and one in names:
            found.append(list(names).index(one))
        elif isinstance(one, (int, np.integer)) and not isinstance(one, bool) and 0 <= one < len(names):
            found.append(int(one))
        else:
            raise InputError(
                f"attributes must be names or indices of the {len(names)} attributes, got {one!r}"
            )
    if not found:
        raise InputError("attributes must name at least one attribute, got none")
    return found
