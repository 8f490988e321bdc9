"""What a fit told is kept with its model, and never said of another."""

import pytest

pytest.importorskip("starlette", reason="needs the extra 'studio'")

from neuroplastic.learn.table_model import FILES
from neuroplastic.studio.outcomes import FOLDER, held_out, keep_outcome, keep_turned, kept_outcome

OUTCOME = {"summary": ["accuracy: 0.9"], "notes": [], "contest": None}


@pytest.fixture
def model(tmp_path):
    folder = tmp_path / "iris"
    folder.mkdir()
    for name in FILES:
        (folder / name).write_text(name, encoding="utf-8")
    return folder


def test_what_a_fit_told_is_read_back_of_its_own_model_alone(model):
    assert kept_outcome(model) is None
    keep_outcome(model, OUTCOME)
    assert kept_outcome(model) == OUTCOME
    (model / FILES[0]).write_text("another fit under this name", encoding="utf-8")
    assert kept_outcome(model) is None


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"model": 1, "outcome": 2}', "\x00"])
def test_a_damaged_outcome_is_as_none(model, content):
    keep_outcome(model, OUTCOME)
    (model.parent / FOLDER / "iris.json").write_text(content, encoding="utf-8")
    assert kept_outcome(model) is None


def test_a_model_turned_by_hand_tells_what_it_was_and_keeps_its_sliders(tmp_path):
    pytest.importorskip("sklearn", reason="needs the extra 'table'")
    from neuroplastic import NeuroFuzzyClassifier
    from neuroplastic.learn.columns import Columns
    from neuroplastic.learn.table_model import TableModel
    from neuroplastic.usecases.editing import save_edited
    from neuroplastic.usecases.edits import SwitchRule
    from neuroplastic.usecases.opening import OpenedTable
    from tests.usecases.test_editing import table

    frame = table()[["size", "weight", "kind"]]
    fitted = NeuroFuzzyClassifier(rules=3, max_updates=5, random_state=0).fit(
        frame[["size", "weight"]], frame["kind"]
    )
    opened = OpenedTable(tmp_path / "kinds", TableModel(Columns("kind", True, ("size", "weight")), fitted))
    opened.model.save(opened.path)
    contest = {"measure": "accuracy", "ranked": [["trees", False, 0.9, []], ["rules", True, 0.8, []]]}
    sliders = {"controls": ["size"], "rules": "old", "sentences": ["old"]}
    keep_outcome(opened.path, {**OUTCOME, "contest": contest, "table": "kinds.csv", "sliders": sliders})
    for source, name, edits in ((opened, "turned", 1), (None, "again", 2)):
        if source is None:
            source = OpenedTable(tmp_path / "turned", TableModel.load(tmp_path / "turned"))
        made = save_edited(source, [SwitchRule(0, on=False)], tmp_path / name)
        keep_turned(source, made, 1)
        kept = kept_outcome(made)
        assert (kept["from"], kept["edits"], kept["table"]) == (source.path.name, edits, "kinds.csv")
        assert held_out(kept) == ("accuracy", 0.8)
        assert kept["sliders"]["controls"] == ["size"]
        assert len(kept["sliders"]["sentences"]) == 3 - edits
    assert held_out(None) is None
