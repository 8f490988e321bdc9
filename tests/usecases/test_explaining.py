"""Rows and decisions explained, as functions."""

import numpy as np
import pandas as pd
import pytest

from neuroplastic.errors import ColumnWarning, InputError
from neuroplastic.usecases.explaining import explain_decision, explain_row, explain_rows
from neuroplastic.usecases.opening import open_anything

PICTURES = [np.full((84, 84, 3), shade, dtype=np.uint8) for shade in (0, 100, 200)]


def test_a_row_of_a_table_is_explained_in_words_and_drawn(place):
    made = explain_row(open_anything(place / "model"), place / "rows.csv", number=3)
    assert "rules fired" in made.text
    assert "large" in made.text
    assert made.figure().axes


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("estimator.safetensors", "columns.csv"),
        ("network.safetensors", "inputs.csv"),
        ("hierarchy.safetensors", "inputs.csv"),
    ],
)
def test_a_saved_network_explains_rows_of_its_inputs(name, data, place):
    made = explain_row(open_anything(place / name), place / data)
    assert made.number == 1
    assert "rules fired" in made.text


def test_the_same_row_is_explained_alike_by_a_model_and_its_estimator(place):
    texts = [
        explain_row(open_anything(place / name), place / data, number=7).text
        for name, data in (("model", "rows.csv"), ("estimator.safetensors", "columns.csv"))
    ]
    assert texts[0] == texts[1]


def test_rows_that_are_in_no_file_are_explained_together(place, frame):
    """As sliders ask for."""
    found = explain_rows(open_anything(place / "model"), frame.drop(columns="kind").iloc[:5])
    assert found.output.shape == (5, 2)


def test_what_is_unusual_about_a_row_is_told_once_and_not_warned_of(place, tmp_path, recwarn):
    rows = pd.read_csv(place / "rows.csv").iloc[:1].assign(size=1e4, colour="mauve")
    rows.to_csv(tmp_path / "new.csv", index=False)
    text = explain_row(open_anything(place / "model"), tmp_path / "new.csv").text
    (line,) = (line for line in text.splitlines() if "unlike rows of training" in line)
    assert "size is outside the range of training" in line
    assert "colour is a category never seen in training" in line
    assert not [warning for warning in recwarn if issubclass(warning.category, ColumnWarning)]
    assert "unlike" not in explain_row(open_anything(place / "model"), place / "rows.csv").text


@pytest.mark.parametrize("number", [0, 41])
def test_a_row_that_is_not_there_is_refused(number, place):
    with pytest.raises(InputError, match=f"at most 40, the rows of .*rows.csv, got {number}"):
        explain_row(open_anything(place / "model"), place / "rows.csv", number=number)


def test_words_are_refused_by_a_network_without_columns(place):
    with pytest.raises(InputError, match="needs a table with its inputs alone, as numbers"):
        explain_row(open_anything(place / "network.safetensors"), place / "rows.csv")


@pytest.fixture
def played(monkeypatch):
    """Episodes of three decisions, which no game needs to be started for."""
    pytest.importorskip("vizdoom")
    monkeypatch.setattr("neuroplastic.experiment.play.watch_episode", lambda *_, **__: PICTURES)


@pytest.mark.usefixtures("played")
def test_a_decision_of_a_run_is_explained_by_default_the_middle_one(run_of):
    run = open_anything(run_of("nfn"))
    made = explain_decision(run)
    assert (made.episode, made.number, made.decisions) == (0, 1, 3)
    assert made.text.startswith("decision: ")
    assert made.figure().axes
    assert explain_decision(run, number=2).observation is PICTURES[2]


@pytest.mark.usefixtures("played")
def test_a_decision_that_was_not_made_is_refused(run_of):
    with pytest.raises(InputError, match="decision must lie in 0 to 2 in this episode, got 3"):
        explain_decision(open_anything(run_of("nfn")), number=3)


@pytest.mark.usefixtures("played")
def test_a_plain_run_explains_nothing(run_of):
    with pytest.raises(InputError, match="it has no rules"):
        explain_decision(open_anything(run_of("dnn")))
