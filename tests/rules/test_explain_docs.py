"""The page on explanations says what is so: its examples run and print what it shows."""

import contextlib
import io
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "explanations.md"


def test_the_examples_of_the_page_print_what_it_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the page saves pictures
    blocks = re.findall(r"```(python|text)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names, shown, checked = {}, None, 0
    for kind, content in blocks:
        if kind == "python":
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(compile(content, str(PAGE), "exec"), names)
            shown = output.getvalue()
        elif shown is not None:
            assert content == shown
            shown, checked = None, checked + 1
    assert checked == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "explanation.png",
        "firing.png",
        "rules.png",
        "sets.png",
    ]
