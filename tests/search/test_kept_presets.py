"""What a study keeps of its preset, which may change: for its trials, for who goes on with it; and damage to it."""

import pytest

from neuroplastic.doom import needs
from neuroplastic.doom.presets import preset
from neuroplastic.experiment.configuration import as_json
from neuroplastic.search.settings import StudyError
from neuroplastic.search.space import at_point
from neuroplastic.search.storage import open_storage
from neuroplastic.search.studies import create_study, load_study, settings_of
from tests.search.studies import settings, without_kept


def test_a_study_keeps_what_its_preset_was_when_it_was_begun(tmp_path, monkeypatch):
    storage = open_storage(f"sqlite:///{tmp_path}/s.db")
    create_study(storage, "s", settings(task="GH", preset="short", agent="nfn"))
    before = settings(task="GH", preset="short", agent="nfn").base(5)
    assert before.learner.n_step == 10
    monkeypatch.setitem(needs.SHORT, "GH", {**needs.SHORT["GH"], "n_step": 7, "things": 8})
    changed = settings(task="GH", preset="short", agent="nfn")
    assert changed.base(5).learner.n_step == 7
    kept = settings_of(load_study(storage, "s"))
    assert kept.base(5) == before
    assert kept.config({"n_step": 3}, 5) == at_point(before, {"n_step": 3})
    for given, named in (
        ({}, r"n_step 10 \(asked for: 7\), things 64 \(asked for: 8\)"),
        ({"n_step": 10}, r"things 64 \(asked for: 8\)"),
        ({"n_step": 10, "things": 64, "rules": 9}, r"rules 64 \(asked for: 9\)"),
    ):
        with pytest.raises(StudyError, match=rf"begun with {named}; go on with the same options"):
            create_study(storage, "s", settings(task="GH", preset="short", agent="nfn", **given))
    as_before = settings(task="GH", preset="short", agent="nfn", n_step=10, things=64)
    assert create_study(storage, "s", as_before).base(5) == before


def test_a_study_of_an_earlier_version_has_its_preset_as_it_is_now(tmp_path, monkeypatch):
    storage = open_storage(f"sqlite:///{tmp_path}/s.db")
    create_study(storage, "s", settings(task="GH", preset="short"))
    without_kept(storage, "s")
    monkeypatch.setitem(needs.SHORT, "GH", {**needs.SHORT["GH"], "n_step": 7})
    assert settings_of(load_study(storage, "s")).base(3) == settings(task="GH", preset="short").base(3)


@pytest.mark.parametrize(
    ("kept", "told"),
    [
        ([1], "damaged: kept is"),
        ({"learner": 3}, "damaged: kept: "),
        (as_json(preset("short", "GH", "dnn")), "damaged: kept is of GH, dnn, dqn, not of BP, dnn, dqn"),
        (as_json(preset("short", "BP", "nfn")), "damaged: kept is of BP, nfn, dqn, not of BP, dnn, dqn"),
    ],
)
def test_what_a_study_kept_is_refused_where_it_is_damaged_or_anothers(kept, told, tmp_path):
    storage = open_storage(f"sqlite:///{tmp_path}/s.db")
    create_study(storage, "s", settings())
    without_kept(storage, "s", kept=kept)
    with pytest.raises(StudyError, match=told):
        settings_of(load_study(storage, "s")).base(0)
