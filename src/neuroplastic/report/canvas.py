"""An empty figure, and a finished one as PNG and SVG; without a display, the same bytes for the same input."""

from __future__ import annotations

import io

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Canvas

from .document import Figure

DPI = 150


def canvas(width: float, height: float) -> Canvas:
    """An empty figure of that size in inches, belonging to no window."""
    figure = Canvas(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def finished(figure: Canvas, key: str, caption: str, how_to_read: str) -> Figure:
    """The figure drawn as PNG and SVG; the same input gives the same bytes."""
    png, svg = io.BytesIO(), io.BytesIO()
    # Room for labels is made once, not again for each format. (With "none" there would be a placeholder of an engine,
    # and because of it one more drawing for each format.)
    layout = figure.get_layout_engine()
    if layout is not None:
        layout.execute(figure)
    with matplotlib.rc_context({"figure.autolayout": False, "figure.constrained_layout.use": False}):
        figure.set_layout_engine(None)
    figure.savefig(png, format="png", dpi=DPI, metadata={"Software": None})
    with matplotlib.rc_context({"svg.hashsalt": key, "svg.fonttype": "path"}):
        figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
    return Figure(key, caption, how_to_read, png.getvalue(), svg.getvalue())
