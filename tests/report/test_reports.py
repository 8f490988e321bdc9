"""Whole reports: of the paper, of made-up studies, of studies that allow little; and the command."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuroplastic.analysis import StudyError, StudyTable
from neuroplastic.cli.main import main
from neuroplastic.report import Report, Section, paper_report, study_report, write_report
from neuroplastic.report.document import DIFFERS, EQUAL, ROUNDED, SLIP, Table
from tests.analysis.made_up import made_up_study
from tests.analysis.test_studies import as_json

from .test_folder import assert_opens_without_a_network


def table_of(report: Report, key: str) -> Table:
    return next(table for section in report.sections for table in section.tables if table.key == key)


def keys(report: Report) -> set[str]:
    return {part.key for section in report.sections for part in section.parts}


def notes(report: Report) -> str:
    return "\n".join(note for section in report.sections for note in section.notes)


@pytest.fixture(scope="module")
def paper_page() -> Report:
    return paper_report()


@pytest.fixture(scope="module")
def four_studies() -> list[StudyTable]:
    return [
        made_up_study(trials=60, task=task, agent=agent, seed=seed)
        for seed, (task, agent) in enumerate([("GH", "nfn"), ("BP", "nfn"), ("BP", "dnn"), ("GH", "dnn")])
    ]


def test_every_test_statistic_of_the_paper_is_marked_equal_but_for_the_named_slips(
    paper_page: Report,
) -> None:
    table = table_of(paper_page, "comparisons")
    marks = [cell.mark for row in table.rows for cell in row if cell.mark]
    assert marks.count(EQUAL) == 7 * 5 - 2 + 3
    assert marks.count(SLIP) == 2 + 4  # signs of GH; degrees of freedom of four Welch tests
    assert marks.count(DIFFERS) == 0


def test_what_the_papers_printed_agreement_implies_is_marked_equal(paper_page: Report) -> None:
    marks = [cell.mark for row in table_of(paper_page, "agreement").rows for cell in row if cell.mark]
    assert marks.count(EQUAL) == 8 * 5 + 1
    assert marks.count(SLIP) == 7  # seven ICC(1,1) called ICC(3,k)


def test_of_the_rounded_table_only_w_over_all_tasks_does_not_follow(paper_page: Report) -> None:
    rows = table_of(paper_page, "agreement_rounded").rows
    off = [row[0].text for row in rows for cell in row if cell.mark == DIFFERS]
    assert off == ["all"]
    assert sum(cell.mark == ROUNDED for row in rows for cell in row) == 15


def test_the_report_of_the_paper_has_all_of_its_tables(paper_page: Report) -> None:
    assert keys(paper_page) >= {
        "best_dnn",
        "best_nfn",
        "comparisons",
        "importances_nfn",
        "mean_importances",
        "agreement",
        "medoids_nfn",
        "dendrogram_nfn",
    }
    cells = {cell.text for row in table_of(paper_page, "best_dnn").rows for cell in row}
    assert {"85.40", "10.0", "2100", "481.1"} <= cells  # as printed


def test_every_part_says_how_to_read_it(paper_page: Report) -> None:
    assert all(part.how_to_read and part.caption for section in paper_page.sections for part in section.parts)


def test_studies_give_every_table_and_figure(four_studies: list[StudyTable], tmp_path: Path) -> None:
    report = study_report(four_studies)
    assert keys(report) >= {
        "studies",
        "best_dnn",
        "best_nfn",
        "comparisons",
        "importances_nfn",
        "agreement_nfn",
        "medoids_nfn",
        "dendrogram_nfn",
        "learning_curves",
    }
    assert [row[0].text for row in table_of(report, "best_nfn").rows] == ["BP", "GH"]
    assert [row[0].text for row in table_of(report, "agreement_nfn").rows] == ["BP", "GH", "all"]
    assert "3 epochs of 10 steps" in "".join(report.summary)
    assert_opens_without_a_network(write_report(report, tmp_path / "report").read_text())


def test_a_study_of_one_trial_is_reported_with_a_note() -> None:
    report = study_report([made_up_study(trials=1)])
    assert "at least 50 finished trials" in notes(report)
    assert "No task has a study of both kinds of agent" in notes(report)
    assert "best_nfn" in keys(report)


@pytest.mark.parametrize(("trials", "held_back"), [(6, True), (28, True), (29, False)])
def test_the_best_of_few_trials_is_compared_with_no_other(trials: int, held_back: bool) -> None:
    pair = [made_up_study(trials=trials, agent=agent, seed=seed) for seed, agent in enumerate(("dnn", "nfn"))]
    report = study_report(pair)
    assert ("comparisons" not in keys(report)) == held_back
    assert ("comparisons of best trials need at least 29 finished trials" in notes(report)) == held_back
    assert (f"has {trials} finished trials: from 29 on" in notes(report)) == held_back
    bold = [
        cell for table in ("best_dnn", "best_nfn") for row in table_of(report, table).rows for cell in row
    ]
    assert any(cell.bold for cell in bold) != held_back


@pytest.mark.parametrize(("trials", "held_back"), [(6, True), (49, True), (50, False)])
def test_a_tenth_of_few_trials_weighs_no_hyperparameter(trials: int, held_back: bool) -> None:
    report = study_report([made_up_study(trials=trials)])
    assert ("importances_nfn" not in keys(report)) == held_back
    assert ("agreement_nfn" not in keys(report)) == held_back
    assert ("need at least 50 finished trials" in notes(report)) == held_back


def test_equal_means_are_reported_with_a_note() -> None:
    same = [({"rules": n, "stge": True}, 5.0) for n in (64, 128, 256)] * 20
    report = study_report([made_up_study(same)])
    assert "the same mean" in notes(report)


def test_two_studies_of_the_same_kind_raise() -> None:
    with pytest.raises(StudyError, match="one of each"):
        study_report([made_up_study(trials=2), made_up_study(trials=2)])


def test_studies_without_a_finished_trial_raise() -> None:
    with pytest.raises(StudyError, match="no study has a finished trial"):
        study_report([])


@pytest.fixture
def no_firing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("neuroplastic.usecases.reports.firing_section", lambda _: Section("Firing levels"))


@pytest.mark.usefixtures("no_firing")
def test_the_command_makes_a_report_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "study.json").write_text(as_json(made_up_study(trials=3)))
    arguments = ["report", str(tmp_path / "study.json"), "--out", str(tmp_path / "out")]
    assert main(arguments) == 0
    assert str(tmp_path / "out" / "index.html") in capsys.readouterr().out
    assert main(arguments) == 2
    assert "not overwritten" in capsys.readouterr().err
    assert main([*arguments, "--force"]) == 0


@pytest.mark.usefixtures("no_firing")
def test_the_command_says_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "out")
    for arguments, words in (
        (["report", "--out", out], "give STUDIES"),
        (["report", "x.csv", "--paper", "--out", out], "give STUDIES"),
        (["report", str(tmp_path / "none.db"), "--out", out], "there is no study at"),
        (
            ["report", "sqlite:////nowhere/none.db", "--out", out],
            "there is no study storage /nowhere/none.db",
        ),
    ):
        assert main(arguments) == 2
        assert words in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
