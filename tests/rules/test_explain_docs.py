"""The page on explanations says what is so: its examples run and print what it shows."""

from tests.pages import HOW_TO, examples_that_print_what_is_shown

PAGE = HOW_TO / "explanations.md"


def test_the_examples_of_the_page_print_what_it_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the page saves pictures
    assert examples_that_print_what_is_shown(PAGE) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "explanation.png",
        "firing.png",
        "rules.png",
        "sets.png",
    ]
