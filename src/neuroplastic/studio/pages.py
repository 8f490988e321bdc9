"""The pages: shells that hold no one's names, whose scripts ask for the rest and set it as text; and their files."""

from __future__ import annotations

from html import escape
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

SHELLS = {
    "watch": ("Watch", "an agent think", ("trail.js", "watch.js")),
    "table": ("Table", "a CSV becomes rules", ("rule_base.js", "what_if.js", "response.js", "table.js")),
    "rules": (
        "Rules",
        "change them by hand",
        ("rules_play.js", "rules_changes.js", "rules_sets.js", "rules.js"),
    ),
    "train": ("Train", "agents of your own", ("train.js",)),
    "studies": ("Studies", "which settings matter", ("studies.js",)),
}
"""Each page's title, what it is for, and its own scripts."""
_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
# What the reports have already is served from there.
_REPORT = ("page.css", "rule_base.js", "what_if.js")


def _static() -> dict[str, bytes]:
    own = files(__package__).joinpath("static")
    found = {entry.name: entry.read_bytes() for entry in own.iterdir() if entry.is_file()}
    report = files("neuroplastic.report")
    return {**found, **{name: report.joinpath(name).read_bytes() for name in _REPORT}}


STATIC = _static()


def existing() -> dict[str, tuple[str, str, tuple[str, ...]]]:
    """The pages whose scripts are there."""
    return {name: shell for name, shell in SHELLS.items() if f"{name}.html" in STATIC}


def shell(page: str) -> str:
    """The page's HTML."""
    title, _, scripts = SHELLS[page]
    links = "".join(
        f'<a href="/{name}"{" aria-current=page" if name == page else ""}><b>{escape(label)}</b> '
        f"<small>{escape(purpose)}</small></a>"
        for name, (label, purpose, _) in existing().items()
    )
    loaded = "".join(f'<script src="/static/{name}" defer></script>' for name in ("studio.js", *scripts))
    content = STATIC[f"{page}.html"].decode()
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{escape(title)} · neuroplastic studio</title>"
        '<link rel="icon" href="/static/icon.svg" type="image/svg+xml">'
        '<link rel="stylesheet" href="/static/page.css"><link rel="stylesheet" href="/static/studio.css">'
        f'{loaded}</head><body class="studio"><a class="skip" href="#main">Skip to content</a>'
        '<header class="top"><div class="inside"><a class="brand" href="/"><img src="/static/icon.svg" alt="" '
        'width="28" height="28"> neuroplastic studio</a>'
        f'<nav aria-label="Pages">{links}</nav></div></header>'
        f'<main id="main" data-page="{page}">{content}</main>'
        '<div id="toast" role="status" aria-live="polite"></div>'
        "<noscript><p>The studio needs JavaScript.</p></noscript></body></html>"
    )


async def static(request: Request) -> Response:
    """One of the listed files."""
    name = request.path_params["name"]
    if name not in STATIC:
        return PlainTextResponse("there is no such file", 404)
    kind = _TYPES.get(name.rpartition(".")[2], "text/plain")
    return Response(STATIC[name], media_type=kind, headers={"cache-control": "no-cache"})


async def page(request: Request) -> Response:
    """A page's shell; what it is about stands in its address, which only its script reads."""
    name = request.url.path.strip("/").partition("/")[0]
    return (
        HTMLResponse(shell(name)) if name in existing() else PlainTextResponse("there is no such page", 404)
    )
