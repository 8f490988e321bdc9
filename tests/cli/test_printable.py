"""What files say is shown on a terminal, never obeyed by it."""

import io
import sys

import pandas as pd
import pytest

import neuroplastic as npl
from neuroplastic.cli.main import main
from neuroplastic.cli.printable import printable

NASTY = "a\x1b]0;owned\x07\x9b2J\u202eb"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def model(tmp_path):
    rows = pd.DataFrame({NASTY: [0.0, 1, 2, 3] * 5, "c": [1.0, 5, 2, 2] * 5})
    fitted = npl.NeuroFuzzyClassifier(rules=2, terms=2, max_updates=2, random_state=0)
    npl.save(fitted.fit(rows, [NASTY, "y"] * 10), tmp_path / "m.safetensors")
    return str(tmp_path / "m.safetensors")


def test_control_characters_of_names_are_written_out_on_a_terminal(model, monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    assert main(["rules", model]) == 0
    said = screen.getvalue()
    assert r"a\x1b]0;owned\x07\x9b2J\u202eb" in said
    assert printable(said) == said
    assert sys.stdout is screen


def test_a_file_gets_names_as_they_are(model, capsys):
    assert main(["rules", model]) == 0
    assert NASTY in capsys.readouterr().out


def test_control_characters_of_errors_are_written_out_everywhere(tmp_path, capsys):
    assert main(["rules", str(tmp_path / NASTY)]) == 2
    said = capsys.readouterr().err
    assert r"\x1b]0;owned" in said
    assert printable(said) == said


def test_lines_and_tables_stay_as_they_are():
    assert printable("a\tb\nÜ ≥ 1 – 2\n") == "a\tb\nÜ ≥ 1 – 2\n"
