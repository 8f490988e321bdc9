"""A report's folder: the page, LaTeX tables, PNG and SVG figures; never written over by accident."""

from __future__ import annotations

import secrets
import shutil
from base64 import b64encode
from collections.abc import Callable, Collection
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from .. import __version__
from ..errors import NeuroplasticError
from ..whole_files import put_folder
from .document import DIFFERS, EQUAL, ROUNDED, SLIP, Figure, Report, RuleCards, Table, WhatIf
from .latex import latex

PAGE = "index.html"
_FOLDERS = {"tables": (".tex",), "figures": (".png", ".svg")}
_SCRIPTS = ("rule_base.js", "what_if.js")
_SIGNATURE = '<meta name="generator" content="neuroplastic report'
_MARKS = {
    EQUAL: Markup('<span class="mark" title="recomputed: equal">✓</span>'),
    ROUNDED: Markup('<span class="mark" title="recomputed: equal as far as rounded tables can say">≈</span>'),
    DIFFERS: Markup('<span class="mark off" title="recomputed: not equal">≠</span>'),
    SLIP: Markup('<span class="mark off" title="a slip of the paper">!</span>'),
}


class ReportExistsError(NeuroplasticError, FileExistsError):
    """There is something in the report's folder already."""


def check_folder(out: str | Path, *, force: bool = False, beside: Collection[str] = ()) -> Path:
    """The folder's path if a report may be written there, else an error; changes nothing.

    An empty folder may be filled. With `force` an earlier report may be replaced if it has all of the files `beside`
    it that the caller writes, too, and nothing else.
    """
    path = Path(out)
    if path.is_symlink() or (path.exists() and not path.is_dir()):
        raise ReportExistsError(f"{path} is not a folder; choose another with --out")
    if not path.exists() or not any(path.iterdir()):
        return path
    if not force:
        raise ReportExistsError(f"{path} exists and is not overwritten; choose another --out, or add --force")
    _check_content(path, beside)
    return path


def _check_content(path: Path, beside: Collection[str]) -> None:
    """Raise an error unless the folder holds an earlier report, the files beside it, and nothing else."""
    page = path / PAGE
    if not page.is_file() or _SIGNATURE not in page.read_text(encoding="utf-8", errors="replace")[:2000]:
        raise ReportExistsError(
            f"{path} holds something else than a report, so --force does not replace it; choose another --out"
        )
    for name in beside:
        if not (path / name).is_file():
            raise ReportExistsError(
                f"{path} holds a report but no {name}, so --force does not replace it; choose another --out"
            )
    for entry in sorted(path.rglob("*")):
        within = entry.relative_to(path)
        expected = within.as_posix() in (PAGE, *_FOLDERS, *beside)
        if not expected and entry.suffix not in _FOLDERS.get(within.parent.as_posix(), ()):
            raise ReportExistsError(
                f"{path} also holds {within}, so --force does not replace it; move that, or choose another --out"
            )


def write_report(
    report: Report,
    out: str | Path,
    *,
    force: bool = False,
    beside: Collection[str] = (),
    add: Callable[[Path], None] = lambda _: None,
) -> Path:
    """Write the report and return the page's path. The folder appears whole, or stays as it was.

    `add` is given the folder before it appears, to write the files `beside` the report.
    """
    path = check_folder(out, force=force, beside=beside)
    path.parent.mkdir(parents=True, exist_ok=True)
    made = path.parent / f".{path.name}-new-{secrets.token_hex(4)}"
    try:
        made.mkdir()
        _fill(made, report)
        add(made)
        put_folder(made, path)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    return path / PAGE


def _fill(folder: Path, report: Report) -> None:
    (folder / PAGE).write_text(render(report), encoding="utf-8")
    for name in _FOLDERS:
        (folder / name).mkdir()
    for section in report.sections:
        for table in section.tables:
            (folder / "tables" / f"{table.key}.tex").write_text(latex(table), encoding="utf-8")
        for figure in section.figures:
            (folder / "figures" / f"{figure.key}.png").write_bytes(figure.png)
            (folder / "figures" / f"{figure.key}.svg").write_bytes(figure.svg)


def render(report: Report) -> str:
    """The page as text, images and style inside."""
    environment = Environment(
        loader=FunctionLoader(_packaged),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.tests["table"] = lambda part: isinstance(part, Table)
    environment.tests["cards"] = lambda part: isinstance(part, RuleCards)
    environment.tests["what_if"] = lambda part: isinstance(part, WhatIf)
    environment.filters |= {"inlined": _inlined, "width": _width}
    script = _script(report)
    page = environment.get_template("page.html.j2")
    return page.render(
        report=report, version=__version__, marks=_MARKS, script=Markup(script), policy=_policy(script)
    )


def _packaged(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _script(report: Report) -> str:
    """What a page with sliders computes, as it stands in its script element; nothing without sliders."""
    parts = (part for section in report.sections for part in section.parts)
    return "\n".join(map(_packaged, _SCRIPTS)) if any(isinstance(part, WhatIf) for part in parts) else ""


def _policy(script: str) -> str:
    """What a browser may do for the page: show what is in it and run this one script; no name could do more."""
    allowed = f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" if script else "'none'"
    return f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src {allowed}"


def _width(figure: Figure) -> int:
    """In pixels: the number that follows the name of a PNG's first part."""
    return int.from_bytes(figure.png[16:20], "big")


def _inlined(figure: Figure) -> str:
    return f"data:image/png;base64,{b64encode(figure.png).decode()}"
