"""Pictures of rules, with matplotlib: sets before and after, who uses what, firing, births, one explanation.

Every function returns a `matplotlib.figure.Figure` of its own; save it with `figure.savefig("rules.png")`.
"""

from . import style as _style  # noqa: F401  # first: names the extra where matplotlib is missing
from .births import plot_births
from .explanation import plot_explanation
from .firing import plot_firing
from .regions import plot_regions
from .rule_map import plot_rule_map
from .sets import plot_sets

__all__ = [
    "plot_births",
    "plot_explanation",
    "plot_firing",
    "plot_regions",
    "plot_rule_map",
    "plot_sets",
]
