"""Cards of an agent's rules as one page that needs nothing else: pictures inside, no scripts."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Sequence

import matplotlib.image
import numpy as np
from matplotlib import colormaps
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

STYLE = """
body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;color:#1c1c28;background:#fff}
h1{font-size:1.5rem}h2{font-size:1.1rem;margin:0 0 .3rem}
section{border:1px solid #ccc;border-radius:8px;padding:1rem;margin:1rem 0;break-inside:avoid}
.row{display:flex;flex-wrap:wrap;gap:.6rem;align-items:flex-start}
figure{margin:0;width:128px;font-size:.8rem;color:#555;text-align:center}
img{width:126px;height:126px;image-rendering:pixelated;display:block;border:1px solid #ddd}
.bars{font-size:.85rem;border-spacing:.3rem 1px}.bars td{padding:0;white-space:nowrap}
.bar{display:inline-block;height:.7rem;background:#3949ab}.bar.less{background:#c98b2b}
p{margin:.3rem 0}.quiet{color:#555}
@media(prefers-color-scheme:dark){body{background:#16161d;color:#e4e4ee}section{border-color:#444}
.quiet,figure{color:#aaa}.bar{background:#8c9eff}}
"""


def page(title: str, introduction: str, sections: Sequence[str]) -> str:
    """A whole HTML page of sections."""
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{STYLE}</style>"
        f"<h1>{html.escape(title)}</h1><p>{html.escape(introduction)}</p>{''.join(sections)}</html>\n"
    )


def section(heading: str, lines: Sequence[str], *, figures: Sequence[str] = (), bars: str = "") -> str:
    """A card: a heading, lines of text, pictures in a row, and bars."""
    text = "".join(f"<p>{html.escape(line)}</p>" for line in lines)
    return f'<section><h2>{html.escape(heading)}</h2>{text}<div class="row">{"".join(figures)}{bars}</div></section>'


def picture(pixels: NDArray[np.uint8], caption: str) -> str:
    """A picture (H, W, C), of stacked frames the newest, with a caption."""
    channels = pixels.shape[2]
    newest = pixels[..., -3:] if channels % 3 == 0 else np.repeat(pixels[..., -1:], 3, axis=2)
    return _figure(newest, caption)


def heat_picture(heat: Numbers, pixels: NDArray[np.uint8], caption: str) -> str:
    """Heat (H, W) over a grey picture."""
    grey = np.repeat(pixels.mean(axis=2, keepdims=True), 3, axis=2)
    level = heat / max(float(heat.max()), 1e-12)
    colours = colormaps["inferno"](level)[..., :3] * 255
    share = (0.25 + 0.6 * level)[..., None]
    return _figure((grey * (1 - share) + colours * share).astype(np.uint8), caption)


def bars(names: Sequence[str], values: Numbers, *, shares: bool = False) -> str:
    """A bar for each value, to the right of its name; those below 0 in another colour. Of `shares`, none that is 0."""
    if shares:
        names = [name for name, value in zip(names, values, strict=True) if value > 0]
        values = values[values > 0]
    widest = max(float(np.abs(values).max()), 1e-12)

    def said(value: float) -> str:
        return f"{100 * value:.0f} %" if shares else f"{value:+.2g}"

    rows = "".join(
        f"<tr><td>{html.escape(name)}</td><td><span class='bar{'' if value >= 0 else ' less'}' "
        f"style='width:{90 * abs(value) / widest:.0f}px'></span> {said(value)}</td></tr>"
        for name, value in zip(names, values.tolist(), strict=True)
    )
    return f'<table class="bars">{rows}</table>'


def _figure(pixels: NDArray[np.uint8], caption: str) -> str:
    file = io.BytesIO()
    matplotlib.image.imsave(file, pixels, format="png")
    data = base64.b64encode(file.getvalue()).decode()
    label = html.escape(caption)
    return f'<figure><img alt="{label}" src="data:image/png;base64,{data}">{label}</figure>'
