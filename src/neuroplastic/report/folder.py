"""A report's folder: the page, LaTeX tables, PNG and SVG figures; never written over by accident."""

from __future__ import annotations

import shutil
import tempfile
from base64 import b64encode
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from .. import __version__
from ..errors import NeuroplasticError
from .document import DIFFERS, EQUAL, ROUNDED, SLIP, Figure, Report, Table
from .latex import latex

PAGE = "index.html"
_SIGNATURE = '<meta name="generator" content="neuroplastic report'
_MARKS = {
    EQUAL: Markup('<span class="mark" title="recomputed: equal">✓</span>'),
    ROUNDED: Markup('<span class="mark" title="recomputed: equal as far as rounded tables can say">≈</span>'),
    DIFFERS: Markup('<span class="mark off" title="recomputed: not equal">≠</span>'),
    SLIP: Markup('<span class="mark off" title="a slip of the paper">!</span>'),
}


class ReportExistsError(NeuroplasticError, FileExistsError):
    """There is something in the report's folder already."""


def check_folder(out: str | Path, *, force: bool = False) -> Path:
    """The folder's path if a report may be written there, else an error; changes nothing.

    An empty folder may be filled. With `force` an earlier report may be replaced, but nothing else.
    """
    path = Path(out)
    if path.is_symlink() or (path.exists() and not path.is_dir()):
        raise ReportExistsError(f"{path} is not a folder; choose another with --out")
    if not path.exists() or not any(path.iterdir()):
        return path
    if not force:
        raise ReportExistsError(f"{path} exists and is not overwritten; choose another --out, or add --force")
    page = path / PAGE
    if not page.is_file() or _SIGNATURE not in page.read_text(encoding="utf-8", errors="replace")[:2000]:
        raise ReportExistsError(
            f"{path} holds something else than a report, so --force does not replace it; choose another --out"
        )
    return path


def write_report(report: Report, out: str | Path, *, force: bool = False) -> Path:
    """Write the report and return the page's path. The folder appears whole, or stays as it was."""
    path = check_folder(out, force=force)
    path.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=f".{path.name}-", dir=path.parent))
    try:
        made.chmod(0o755)
        _fill(made, report)
        if path.exists():
            earlier = Path(tempfile.mkdtemp(prefix=f".{path.name}-old-", dir=path.parent))
            path.rename(earlier / path.name)
            made.rename(path)
            shutil.rmtree(earlier)
        else:
            made.rename(path)
    finally:
        if made.exists():
            shutil.rmtree(made)
    return path / PAGE


def _fill(folder: Path, report: Report) -> None:
    (folder / PAGE).write_text(render(report), encoding="utf-8")
    for name in ("tables", "figures"):
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
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.tests["table"] = lambda part: isinstance(part, Table)
    environment.filters["inlined"] = _inlined
    source = files(__package__).joinpath("page.html.j2").read_text(encoding="utf-8")
    return environment.from_string(source).render(report=report, version=__version__, marks=_MARKS)


def _inlined(figure: Figure) -> str:
    return f"data:image/png;base64,{b64encode(figure.png).decode()}"
