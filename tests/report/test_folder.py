"""A report's folder: one page that needs no network, tables and figures beside it, nothing overwritten."""

from __future__ import annotations

import functools
import os
import re
import stat
from html.parser import HTMLParser
from pathlib import Path

import pytest

from neuroplastic import whole_files
from neuroplastic.report import Cell, Report, ReportExistsError, Section, Table, write_report
from neuroplastic.report.document import Figure
from neuroplastic.report.drawing import canvas, finished

EVIL = '<script>alert("x")</script> & $\\input{y}'


@functools.cache
def drawn(_: str = "") -> Figure:
    """A figure; another name draws it anew."""
    figure = canvas(1, 1)
    figure.add_subplot().plot([1, 2])
    return finished(figure, "figure", "A figure.", "How.")


def small_report(title: str = "Title", figure: str = "") -> Report:
    table = Table("table", EVIL, "How.", ("Task", "x"), ((Cell(EVIL), Cell("1", shade=0.9, mark="slip")),))
    return Report(
        title,
        ("Line.",),
        (Section("Part", (table, drawn(figure)), ("Note.",)),),
    )


class Loader(HTMLParser):
    """Collects what a browser would fetch, and checks that tags close in order."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.fetched += [value or "" for name, value in attrs if name in ("src", "srcset", "data", "poster")]
        self.fetched += [value or "" for name, value in attrs if tag == "link" and name == "href"]
        assert tag not in ("script", "iframe", "object")
        if tag not in ("meta", "img", "br", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def assert_opens_without_a_network(page: str) -> None:
    loader = Loader()
    loader.feed(page)
    assert loader.open == []
    assert loader.fetched
    assert all(source.startswith("data:image/png;base64,") for source in loader.fetched)
    assert not re.search(r"url\(|@import|https?://", page)


def test_the_page_carries_all_it_needs_and_escapes_names(tmp_path: Path) -> None:
    page = write_report(small_report(), tmp_path / "report")
    text = page.read_text()
    assert_opens_without_a_network(text)
    assert "&lt;script&gt;" in text
    assert sorted(
        p.relative_to(tmp_path / "report").as_posix() for p in (tmp_path / "report").rglob("*.*")
    ) == [
        "figures/figure.png",
        "figures/figure.svg",
        "index.html",
        "tables/table.tex",
    ]


def test_a_report_that_exists_is_not_overwritten_unless_forced(tmp_path: Path) -> None:
    out = tmp_path / "report"
    write_report(small_report("First"), out)
    with pytest.raises(ReportExistsError, match="--force"):
        write_report(small_report("Second"), out)
    assert "First" in (out / "index.html").read_text()
    write_report(small_report("Second"), out, force=True)
    assert "Second" in (out / "index.html").read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["report"]


@pytest.mark.parametrize("name", ["predictions.csv", "figures/mine.xcf", "tables/drafts/table.tex"])
def test_force_does_not_replace_a_report_with_something_of_the_users_in_it(name: str, tmp_path: Path) -> None:
    write_report(small_report("First"), tmp_path / "report")
    (tmp_path / "report" / name).parent.mkdir(exist_ok=True)
    (tmp_path / "report" / name).write_text("mine")
    with pytest.raises(ReportExistsError, match="also holds"):
        write_report(small_report("Second"), tmp_path / "report", force=True)
    assert (tmp_path / "report" / name).read_text() == "mine"


def test_force_does_not_replace_what_another_command_wrote(tmp_path: Path) -> None:
    def model(folder: Path) -> None:
        (folder / "model.json").write_text("fitted")

    def fit(title: str, out: Path) -> None:
        write_report(small_report(title), out, force=True, beside=("model.json",), add=model)

    fit("First", tmp_path / "model")
    fit("Second", tmp_path / "model")
    with pytest.raises(ReportExistsError, match=r"also holds model\.json"):
        write_report(small_report("Third"), tmp_path / "model", force=True)
    assert (tmp_path / "model" / "model.json").read_text() == "fitted"
    write_report(small_report("Study"), tmp_path / "report")
    with pytest.raises(ReportExistsError, match=r"no model\.json"):
        fit("Third", tmp_path / "report")
    assert "Second" in (tmp_path / "model" / "index.html").read_text()
    assert "Study" in (tmp_path / "report" / "index.html").read_text()


def test_an_earlier_report_comes_back_where_the_new_one_cannot_take_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "report"
    write_report(small_report("First"), out)
    rename = Path.rename

    def broken(self: Path, target: Path) -> Path:
        if (self / "index.html").is_file() and "Second" in (self / "index.html").read_text():
            raise OSError("not now")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", broken)
    monkeypatch.setattr(whole_files, "_exchanged", lambda *_: False)  # a system that cannot do it in one step
    with pytest.raises(OSError, match="not now"):
        write_report(small_report("Second"), out, force=True)
    assert [path.name for path in tmp_path.iterdir()] == ["report"]
    assert "First" in (out / "index.html").read_text()


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_the_umask_says_who_may_enter_the_folder(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_report(small_report(), tmp_path / "report")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "report").stat().st_mode) == 0o750


def test_force_does_not_replace_what_is_no_report(tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "index.html").write_text("mine")
    with pytest.raises(ReportExistsError, match="something else"):
        write_report(small_report(), tmp_path / "thesis", force=True)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ReportExistsError, match="not a folder"):
        write_report(small_report(), tmp_path / "file", force=True)
    assert (tmp_path / "thesis" / "index.html").read_text() == (tmp_path / "file").read_text() == "mine"


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    write_report(small_report(), tmp_path)
    assert (tmp_path / "index.html").is_file()


def test_a_report_that_fails_half_way_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Table) -> str:
        raise OSError("disk full")

    monkeypatch.setattr("neuroplastic.report.folder.latex", broken)
    with pytest.raises(OSError, match="disk full"):
        write_report(small_report(), tmp_path / "report")
    assert list(tmp_path.iterdir()) == []


def test_the_same_report_is_written_twice_with_the_same_bytes(tmp_path: Path) -> None:
    for name in "ab":
        write_report(small_report(figure=name), tmp_path / name)
    for file in ("index.html", "figures/figure.png", "figures/figure.svg", "tables/table.tex"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()
