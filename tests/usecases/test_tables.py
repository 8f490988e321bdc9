"""Tables prepared, cross-validated, fitted, saved and predicted, as functions."""

import pickle

import numpy as np
import pandas as pd
import pytest

from neuroplastic.errors import ConfigError
from neuroplastic.learn.columns import Columns
from neuroplastic.learn.table_model import TableModel
from neuroplastic.report.folder import ReportExistsError
from neuroplastic.usecases.cross_validation import cross_validate, fold_notes, possible_folds
from neuroplastic.usecases.preparing import PreparedTable, prepare_table
from neuroplastic.usecases.requests import FitRequest, TableRequest
from neuroplastic.usecases.table_pages import check_place, save_table, table_page
from neuroplastic.usecases.tables import fit_table, predict_table


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """58 rows: a class that depends on a number, with a category, a missing value, and a column that says nothing."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(5, 2, 58), "colour": ["red", "blue"] * 29, "planet": 3})
    frame["kind"] = np.where(frame["size"] > 5, "large", "small")
    frame.loc[3, "size"] = np.nan
    frame.loc[7, "kind"] = None
    path = tmp_path_factory.mktemp("tables") / "things.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def prepared(file):
    return prepare_table(TableRequest(file, "kind"))


@pytest.fixture(scope="module")
def steps():
    return []


@pytest.fixture(scope="module")
def fitted(prepared, steps):
    return fit_table(prepared, FitRequest(rules=3, folds=2), on_progress=steps.append)


def numbers(rows: int) -> PreparedTable:
    frame = pd.DataFrame({"a": np.arange(float(rows)), "y": np.arange(rows) + 0.5})
    return PreparedTable("numbers", Columns.of(frame, "y", classes=False), frame[["a"]], frame["y"], ())


class Middle:
    """A baseline: the mean, whatever the row."""

    def __init__(self, y):
        self.mean = y.mean()

    def predict(self, x):
        return np.full(len(x), self.mean)


def test_a_prepared_table_says_what_it_holds_and_what_was_done_to_it(prepared):
    assert prepared.summary == "57 rows, 3 inputs; 'kind' is 2 classes"
    assert [note.partition(" of ")[0] for note in prepared.notes] == [
        "1 rows without a target were left out.",
        "1 missing values",
        "'planet' has the same value in all rows, so it says nothing.",
    ]
    assert list(prepared.x.columns) == ["size", "colour", "planet"]


@pytest.mark.parametrize(
    ("request_of", "words"),
    [
        (lambda: TableRequest("x.csv", "y", ignore=("y",)), "'y' is the target and cannot be ignored"),
        (lambda: TableRequest("x.csv", "y", task="clases"), "did you mean 'classes'"),
        (lambda: FitRequest(rules=0), "rules must be a whole number of at least 1"),
        (lambda: FitRequest(folds=1), "folds must be a whole number of at least 2"),
        (lambda: FitRequest(seed=-1), "seed must be a whole number of at least 0"),
    ],
)
def test_a_request_that_cannot_be_met_is_refused_when_it_is_made(request_of, words):
    with pytest.raises(ConfigError, match=words):
        request_of()


def test_a_fit_has_scores_of_every_fold_and_rules_before_and_after(fitted):
    assert {name: len(folds) for name, folds in fitted.scores.items()} == {
        "accuracy": 2,
        "balanced accuracy": 2,
    }
    assert min(fitted.scores["accuracy"]) > 0.8
    assert len(fitted.rules) == len(fitted.start) == 3
    assert fitted.start.text() != fitted.rules.text()
    assert fitted.model.columns == fitted.table.columns


def test_a_fit_knows_what_was_said_of_every_row_by_a_model_that_had_not_seen_it(fitted):
    held_out = fitted.held_out
    assert held_out.classes == ("large", "small")
    assert held_out.confusion.sum() == 57
    assert np.mean(held_out.true == held_out.predicted) == pytest.approx(
        np.average(fitted.scores["accuracy"], weights=[29, 28])
    )
    assert np.allclose(held_out.chances.sum(axis=1), 1)
    assert held_out.area > 0.9
    names = [name for name, _, _ in held_out.ranked_importance]
    assert names[0] == "size"
    assert held_out.importance["planet"] == (0.0, 0.0)


def test_baselines_are_compared_unless_they_are_left_out(prepared, fitted):
    comparison = fitted.comparison
    assert comparison.rules.folds == fitted.scores["accuracy"]
    assert {one.kind for one in comparison.baselines} == {"constant", "linear", "tree", "boosting"}
    assert comparison.always == "'large'"
    assert fit_table(prepared, FitRequest(rules=2, folds=2, baselines=False)).comparison is None


def test_the_steps_of_a_fit_count_up_to_its_end_stage_by_stage(fitted, steps):
    stages = list(dict.fromkeys(step.stage for step in steps))
    assert stages == ["cross-validation", "baselines", "fitting"]
    for stage in stages:
        of_stage = [step for step in steps if step.stage == stage]
        done = [step.done for step in of_stage]
        assert done == sorted(done)
        assert len({step.total for step in of_stage}) == 1
        assert of_stage[-1].done == of_stage[-1].total
    assert "accuracy" in [step for step in steps if step.stage == "cross-validation"][-1].figures


def test_a_fit_is_cancelled_between_folds_and_between_updates(prepared):
    class CancelledError(Exception):
        pass

    for stage, after in (("cross-validation", 1), ("fitting", 20)):

        def listen(step, stage=stage, after=after):
            if step.stage == stage and step.done >= after:
                raise CancelledError

        with pytest.raises(CancelledError):
            fit_table(prepared, FitRequest(rules=2, folds=2), on_progress=listen)


def test_portable_rules_fire_without_layer_norm(prepared):
    made = fit_table(prepared, FitRequest(rules=2, folds=2, portable=True))
    assert not made.rules.firing.layer_norm
    assert made.rules.gain is None


def test_a_saved_table_predicts_as_the_fitted_one_does(fitted, file, tmp_path):
    saved = save_table(fitted, tmp_path / "model")
    assert saved.page.is_file()
    assert saved.summary == table_page(fitted).summary
    assert saved.summary[0].startswith("accuracy: ")
    made, again = predict_table(fitted.model, file), predict_table(TableModel.load(saved.folder), file)
    assert made.target == "kind"
    assert made.csv() == again.csv()
    assert made.csv().startswith("kind,P(large),P(small)\n")


def test_a_fitted_table_and_its_page_say_whether_the_rules_decide(fitted):
    found = fitted.diagnosis
    assert found == fitted.estimator.diagnose(fitted.table.x)
    assert (found.rows, found.rules, found.decision) == (57, 3, "class")
    (section,) = (part for part in table_page(fitted).sections if part.title == "Do the rules decide?")
    assert section.notes == (found.advice,)
    (table,) = section.tables
    assert [tuple(cell.text for cell in row) for row in table.rows] == found.lines()


def test_a_place_that_cannot_be_written_to_is_refused_before_the_fit(fitted, tmp_path):
    check_place(tmp_path / "deep" / "in" / "there")
    (tmp_path / "file").write_text("kept")
    with pytest.raises(ConfigError, match="cannot be made"):
        check_place(tmp_path / "file" / "model")
    save_table(fitted, tmp_path / "model")
    with pytest.raises(ReportExistsError, match="not overwritten"):
        check_place(tmp_path / "model")
    check_place(tmp_path / "model", force=True)


def test_every_fold_of_a_number_has_rows_enough_for_a_score():
    table = numbers(8)
    scores = cross_validate(table, lambda x, y, told: Middle(y), folds=5)
    assert {name: len(folds) for name, folds in scores.items()} == {"R²": 4, "mean absolute error": 4}
    assert np.isfinite(list(scores.values())).all()


def test_a_baseline_is_scored_on_the_same_folds():
    seen = []

    def learn(x, y, told):
        seen.append(tuple(x["a"]))
        return Middle(y)

    for _ in range(2):
        cross_validate(numbers(20), learn, folds=4, seed=3)
    assert seen[:4] == seen[4:]
    cross_validate(numbers(20), learn, folds=4, seed=4)
    assert seen[:4] != seen[8:]


def test_too_few_rows_are_refused_with_the_reason(prepared, tmp_path):
    assert possible_folds(prepared, 5) == 5
    with pytest.raises(ConfigError, match="at least 4 rows to be cross-validated, but 'y' has 3"):
        possible_folds(numbers(3), 2)
    (tmp_path / "rare.csv").write_text("a,y\n1,x\n2,x\n3,z\n")
    with pytest.raises(ConfigError, match="class 'z' of 'y' has only one row"):
        possible_folds(prepare_table(TableRequest(tmp_path / "rare.csv", "y")), 2)


def test_fewer_folds_than_were_asked_for_are_told_with_the_reason(prepared, tmp_path):
    assert fold_notes(prepared, 5) == ()
    assert fold_notes(numbers(9), 5) == ("Cross-validation has 4 folds, not 5, for there are only 9 rows.",)
    (tmp_path / "rare.csv").write_text("a,y\n" + "1,x\n" * 9 + "2,z\n" * 3)
    rare = prepare_table(TableRequest(tmp_path / "rare.csv", "y"))
    (note,) = fold_notes(rare, 5)
    assert note == "Cross-validation has 3 folds, not 5, for the rarest class has only 3 rows."
    assert fit_table(rare, FitRequest(rules=2, baselines=False)).notes == (*rare.notes, note)


def test_a_table_and_what_was_learned_of_it_pass_between_processes(fitted, file):
    again = pickle.loads(pickle.dumps(fitted))
    assert again.rules.json() == fitted.rules.json()
    assert again.start.json() == fitted.start.json()
    assert again.request == fitted.request
    assert predict_table(again.model, file).csv() == predict_table(fitted.model, file).csv()
