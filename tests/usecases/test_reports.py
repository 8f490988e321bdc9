"""Pages of studies, as functions."""

import pytest

from neuroplastic.analysis import StudyError
from neuroplastic.report import Section
from neuroplastic.usecases.reports import paper_page, study_page
from tests.analysis.made_up import made_up_study
from tests.analysis.test_studies import as_json


@pytest.fixture(autouse=True)
def no_firing(monkeypatch):
    monkeypatch.setattr(
        "neuroplastic.usecases.reports.firing_section",
        lambda scenario: Section(f"Firing levels of {scenario}"),
    )


def test_studies_are_told_before_their_analysis_and_all_lie_on_the_page(tmp_path):
    for task in ("BP", "GH"):
        (tmp_path / f"{task}.json").write_text(as_json(made_up_study(trials=3, task=task)))
    told = []
    page = study_page([tmp_path], scenario="TC", on_progress=told.append)
    assert page.summary[0] == "2 studies, 6 finished trials."
    assert page.sections[-1].title == "Firing levels of TC"
    assert [(headway.done, headway.total) for headway in told] == [(0, 2), (1, 2)]
    assert all("3 finished trials" in headway.figures for headway in told)


def test_a_source_that_is_not_there_is_named(tmp_path):
    with pytest.raises(StudyError, match="there is no study at"):
        study_page([tmp_path / "none.db"])


def test_the_papers_own_tables_make_a_page():
    assert paper_page().sections[-1].title == "Firing levels of DTC"
