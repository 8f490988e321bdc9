"""A table's model on disk: what a folder says of its columns must be what its estimator was fitted to."""

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from neuroplastic.learn.table_model import COLUMNS, ESTIMATOR, TableModel
from neuroplastic.network.storage import StorageError

KEPT = Path(__file__).parents[1] / "kept" / "v0_1" / "table" / "model"
DATA = KEPT.parent / "data.csv"


@pytest.fixture
def folder(tmp_path):
    return Path(shutil.copytree(KEPT, tmp_path / "model"))


def change(folder, edit):
    saved = json.loads((folder / COLUMNS).read_text())
    edit(saved)
    (folder / COLUMNS).write_text(json.dumps(saved))


def first(saved, kind):
    """The first column of numbers, or of categories."""
    return next(column for column in saved["inputs"] if bool(column["categories"]) == (kind == "text"))


@pytest.mark.parametrize(
    ("edit", "complaint"),
    [
        (lambda s: s.update(format=3), "must have format 1 or 2"),
        (lambda s: s.update(classes=1), "columns.classes must be true or false, got 1"),
        (lambda s: s.update(target=None), "columns.target must be text, got None"),
        (lambda s: s.update(more=1), "columns has an unknown field 'more'"),
        (lambda s: s.pop("inputs"), "columns lacks the field 'inputs'"),
        (lambda s: s["inputs"].append(s["inputs"][0]), "must have different names"),
        (lambda s: first(s, "number").update(fill=None), "must have either a fill or categories"),
        (lambda s: first(s, "number").update(fill=float("nan")), "must be finite, got NaN"),
        (lambda s: first(s, "text").update(fill=1), "must have either a fill or categories"),
        (lambda s: first(s, "text")["categories"].append(first(s, "text")["categories"][0]), "must differ"),
    ],
)
def test_columns_that_no_table_has_are_refused_by_name(folder, edit, complaint):
    change(folder, edit)
    with pytest.raises(StorageError, match=complaint) as caught:
        TableModel.load(folder)
    assert str(folder / COLUMNS) in str(caught.value)


@pytest.mark.parametrize(
    "edit",
    [
        lambda s: s.update(classes=not s["classes"]),
        lambda s: s["inputs"].pop(),
        lambda s: s["inputs"].reverse(),
        lambda s: s["inputs"].clear(),
        lambda s: first(s, "number").update(name="another"),
    ],
)
def test_columns_of_another_estimator_are_refused(folder, edit):
    change(folder, edit)
    with pytest.raises(
        StorageError, match=r"estimator.safetensors must hold a NeuroFuzzy\w+ of the \d+ features"
    ):
        TableModel.load(folder)


def test_a_changed_target_is_found_by_the_checksum(folder):
    model = TableModel.load(folder)  # of a version without checksums
    model.save(folder)
    change(folder, lambda saved: saved.update(target="another"))
    with pytest.raises(StorageError, match="does not match its checksum"):
        TableModel.load(folder)


def test_a_folder_that_lacks_its_estimator_names_the_file(folder):
    (folder / ESTIMATOR).unlink()
    with pytest.raises(OSError, match=ESTIMATOR):
        TableModel.load(folder)


def test_a_model_of_version_0_1_is_saved_in_the_form_of_today_and_predicts_the_same(folder, tmp_path):
    old = TableModel.load(folder)
    rows = old.read(DATA)
    old.save(tmp_path / "new")
    new = TableModel.load(tmp_path / "new")
    assert json.loads((tmp_path / "new" / COLUMNS).read_text())["format"] == 2
    assert new.columns == old.columns
    assert new.estimator.columns_ == old.estimator.columns_
    pd.testing.assert_frame_equal(new.predict(rows), old.predict(rows))


@pytest.mark.parametrize(
    "edit", [lambda s: s["inputs"].reverse(), lambda s: s["inputs"].pop(), lambda s: s.update(classes=False)]
)
def test_columns_of_today_that_are_not_the_estimators_are_refused(folder, edit):
    TableModel.load(folder).save(folder)
    change(folder, lambda saved: (edit(saved), saved.pop("sha256")))
    with pytest.raises(StorageError, match=r"must hold a NeuroFuzzy\w+ of the \d+ features"):
        TableModel.load(folder)
