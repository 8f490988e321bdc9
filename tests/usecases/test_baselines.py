"""Plain models on the folds of the rules."""

import numpy as np
import pandas as pd
import pytest

import neuroplastic as npl
from neuroplastic.cli.main import main
from neuroplastic.usecases.baselines import compare_baselines
from neuroplastic.usecases.cross_validation import cross_validate
from neuroplastic.usecases.preparing import prepare_table
from neuroplastic.usecases.requests import FitRequest, TableRequest
from neuroplastic.usecases.tables import fit_table


@pytest.fixture
def file(tmp_path):
    """200 rows of all kinds, with missing values; `y` is a sum, `kind` whether it is great."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "x": rng.normal(0, 1, 200),
            "colour": rng.choice(["red", "blue"], 200),
            "day": [f"2021-03-{day:02d}" for day in rng.integers(1, 29, 200)],
        }
    )
    frame["y"] = 10 + 3 * frame["x"] + 2 * (frame["colour"] == "red")
    frame["kind"] = np.where(frame["y"] > 11, "great", "small")
    frame.loc[[3, 5], ["x", "colour"]] = None
    frame.to_csv(tmp_path / "rows.csv", index=False)
    return tmp_path / "rows.csv"


class Rows:
    """Keeps the rows that a fold learns from."""

    def __init__(self, x, y):
        self.first = y.iloc[0]

    def predict(self, x):
        return np.full(len(x), self.first)


@pytest.mark.parametrize(("target", "other", "measure"), [("kind", "y", "accuracy"), ("y", "kind", "R²")])
def test_tables_of_all_kinds_are_learned_by_plain_models(file, target, other, measure):
    table = prepare_table(TableRequest(file, target, ignore=(other,)))
    scores = cross_validate(table, lambda x, y, told: Rows(x, y), folds=3)
    steps = []
    found = compare_baselines(table, scores, folds=3, on_progress=steps.append)
    assert found.measure == measure
    assert found.rules.folds == scores[measure]
    by_kind = {one.kind: one.mean for one in found.baselines}
    assert by_kind["linear"] > 0.9
    assert by_kind["tree"] > by_kind["constant"] + 0.2
    assert [step.done for step in steps] == [0, 1, 2, 3, 4]
    assert found.verdict.startswith("No better than always saying")


def test_where_classes_are_uneven_plain_models_are_compared_by_what_counts_rare_classes_too(file):
    frame = pd.read_csv(file)
    frame["kind"] = np.where(frame["y"] > frame["y"].quantile(0.85), "rare", "common")
    frame.to_csv(file, index=False)
    table = prepare_table(TableRequest(file, "kind", ignore=("y",)))
    scores = cross_validate(table, lambda x, y, told: Rows(x, y), folds=3)
    found = compare_baselines(table, scores, areas=(0.9, 0.9, 0.9), folds=3)
    assert [other.measure for other in found.others] == ["balanced accuracy", "ROC AUC"]
    constant, linear = found.others[1].baselines[:2]
    assert constant.mean == 0.5
    assert linear.mean > 0.9
    assert "by ROC AUC (0.900) better than always saying 'common'" in found.verdict


def test_classes_can_be_made_to_count_the_same_and_numbers_cannot(file):
    with pytest.raises(npl.ConfigError, match="class_weight is for classes, but 'y' is a number"):
        fit_table(prepare_table(TableRequest(file, "y")), FitRequest(class_weight="balanced"))
    with pytest.raises(npl.ConfigError, match="class_weight"):
        FitRequest(class_weight="even")


def test_plain_models_are_scored_on_the_same_rows_each_time(file):
    table = prepare_table(TableRequest(file, "kind", ignore=("y",)))
    scores = cross_validate(table, lambda x, y, told: Rows(x, y), folds=3)
    once, again = (compare_baselines(table, scores, folds=3) for _ in range(2))
    assert once == again


@pytest.mark.slow
def test_fit_prints_the_baselines_unless_told_not_to(file, tmp_path, capsys):
    command = ["fit", str(file), "--target", "kind", "--ignore", "y", "--rules", "3", "--folds", "2"]
    assert main([*command, "--out", str(tmp_path / "with")]) == 0
    told = capsys.readouterr().out
    assert "Worth it? accuracy on the same 2 folds:" in told
    assert "> these rules" in told
    assert main([*command, "--no-baselines", "--out", str(tmp_path / "without")]) == 0
    assert "Worth it?" not in capsys.readouterr().out
