"""What a fit told is kept with its model, and never said of another."""

import pytest

pytest.importorskip("starlette", reason="needs the extra 'studio'")

from neuroplastic.learn.table_model import FILES
from neuroplastic.studio.outcomes import FOLDER, keep_outcome, kept_outcome

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
