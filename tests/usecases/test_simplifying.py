"""A saved model of a table made simpler, as functions and as a command."""

import numpy as np
import pandas as pd
import pytest

from neuroplastic.cli.main import main
from neuroplastic.errors import ConfigError
from neuroplastic.learn.columns import Columns
from neuroplastic.learn.estimators import NeuroFuzzyClassifier, NeuroFuzzyRegressor
from neuroplastic.learn.table_model import TableModel
from neuroplastic.usecases.simplifying import drawn_rows, save_simplified, simplify_table


def table(rows: int = 150) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": rng.normal(5, 2, rows).round(3),
            "noise": rng.normal(0, 1, rows).round(3),
            "colour": rng.choice(["red", "blue", "green"], rows, p=[0.6, 0.3, 0.1]),
            "seen": [f"2020-01-{day:02d}" for day in rng.integers(1, 29, rows)],
            "planet": "earth",
        }
    )
    return frame.assign(kind=np.where(frame["size"] > 5, "large", "small"), cost=3 * frame["size"] + 100)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with the table, and models of a class and of a number."""
    folder, frame = tmp_path_factory.mktemp("simplify"), table()
    frame.to_csv(folder / "rows.csv", index=False)
    for target, other, kind in (
        ("kind", "cost", NeuroFuzzyClassifier),
        ("cost", "kind", NeuroFuzzyRegressor),
    ):
        columns = Columns.of(frame, target, ignore=(other,))
        estimator = kind(rules=8, max_updates=40, random_state=0)
        estimator.fit(columns.rows(frame), columns.targets(frame))
        TableModel(columns, estimator).save(folder / target)
    return folder


@pytest.mark.parametrize("target", ["kind", "cost"])
def test_a_simpler_model_has_fewer_premises_and_says_nearly_the_same(place, target):
    model = TableModel.load(place / target)
    made = simplify_table(model, place / "rows.csv", tolerance=0.2)
    assert made.report.after.premises < made.report.before.premises
    assert made.report.change.largest <= 0.2
    assert made.agreement > 0.9
    assert not made.drawn
    assert len(made.rules) == made.report.after.rules


def test_a_simplified_model_is_saved_whole_and_predicts_like_the_one_in_memory(place, tmp_path):
    made = simplify_table(TableModel.load(place / "kind"), place / "rows.csv")
    saved = save_simplified(made, tmp_path / "deep" / "simple")
    again, frame = TableModel.load(saved), table()
    pd.testing.assert_frame_equal(again.predict(frame), made.model.predict(frame))
    assert not [entry for entry in saved.parent.iterdir() if entry != saved]
    with pytest.raises(ConfigError, match="exists and is not overwritten"):
        save_simplified(made, saved)


def test_a_simpler_readable_model_has_the_cases_of_the_file_behind_its_rules(place, tmp_path):
    frame = table()
    columns = Columns.of(frame, "kind", ignore=("cost",))
    estimator = NeuroFuzzyClassifier(readable=True, max_updates=40)
    estimator.fit(columns.rows(frame), columns.targets(frame))
    model = TableModel(columns, estimator)
    made = simplify_table(model, place / "rows.csv", tolerance=0.5)
    assert made.rules.evidence.rows == made.rules.evidence.cases.sum() == len(frame)
    assert "cases)" in made.rules.text()
    TableModel.load(save_simplified(made, tmp_path / "simpler"))
    frame.drop(columns="kind").to_csv(tmp_path / "inputs.csv", index=False)
    assert simplify_table(model, tmp_path / "inputs.csv", tolerance=0.5).rules.evidence is None


def test_rows_are_drawn_as_the_columns_were_in_training(place):
    model = TableModel.load(place / "kind")
    rows = drawn_rows(model.estimator, 5000, np.random.default_rng(1))
    frame = table()
    assert list(rows.columns) == ["size", "noise", "colour", "seen", "planet"]
    assert abs(rows["size"].mean() - frame["size"].mean()) < 0.2
    assert rows["size"].between(frame["size"].min(), frame["size"].max()).all()
    assert abs((rows["colour"] == "red").mean() - (frame["colour"] == "red").mean()) < 0.05
    assert rows["seen"].between("2020-01-01", "2020-01-29").all()
    assert np.isfinite(model.estimator.predict_proba(rows)).all()


def test_the_command_prints_what_changes_and_names_the_new_model(place, capsys):
    assert (
        main(["simplify", str(place / "kind"), "--data", str(place / "rows.csv"), "--tolerance", "0.2"]) == 0
    )
    told = capsys.readouterr().out
    assert "Simplified on 150 rows" in told
    assert "allowed  0.2 largest change" in told
    assert "The same class in " in told
    assert "IF " in told
    assert main(["rules", str(place / "kind-simple")]) == 0


def test_without_a_file_the_command_says_that_rows_were_drawn(place, tmp_path, capsys):
    assert main(["simplify", str(place / "cost"), "--out", str(tmp_path / "simple")]) == 0
    told = capsys.readouterr().out
    assert "squared correlation of" in told
    assert "2000 rows, each column drawn by itself" in told
    assert "give --data FILE" in told


def test_mistakes_of_simplify_are_one_line(place, tmp_path, capsys):
    model, data = str(place / "kind"), str(place / "rows.csv")
    for arguments, words in (
        ([model, "--data", str(tmp_path / "no.csv")], "does not exist"),
        ([model, "--tolerance", "0"], "--tolerance must be a number above 0"),
        ([model, "--out", model], "exists and is not overwritten"),
        ([str(tmp_path)], "not a model folder"),
        ([model, "--data", data, "--tolerence", "1"], "did you mean '--tolerance'"),
    ):
        assert main(["simplify", *arguments]) == 2
        told = capsys.readouterr().err
        assert words in told
        assert len(told.splitlines()) == 1
