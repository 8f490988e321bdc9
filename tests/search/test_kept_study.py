"""The study kept with the documentation: what the page says of it is what the storage holds."""

import shutil
import statistics
from pathlib import Path

import pytest
from optuna.trial import TrialState

from neuroplastic.search.best import best_trial
from neuroplastic.search.storage import open_storage
from neuroplastic.search.studies import load_study

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def storage(tmp_path_factory):
    copied = tmp_path_factory.mktemp("kept") / "studies.db"
    shutil.copy(DOCS / "data" / "studies.db", copied)
    return open_storage(f"sqlite:///{copied}")


@pytest.mark.parametrize("name", ["BP-dnn", "BP-nfn", "GH-dnn", "GH-nfn"])
def test_the_table_of_the_page_is_what_the_kept_study_holds(storage, name):
    study = load_study(storage, name)
    trials = study.get_trials()
    finished = [trial for trial in trials if trial.state == TrialState.COMPLETE]
    assert len(finished) == 60
    assert not any(trial.state == TrialState.RUNNING for trial in trials)
    assert {trial.user_attrs["protocol"] for trial in finished} == {study.user_attrs["protocol"]}
    best = best_trial(study)
    mean, sd, slope = best.values
    median = statistics.median(trial.values[0] for trial in finished)
    line = f"| {name} | {best.number} | {mean:.2f} | {sd:.2f} | {slope:+.1f} | {median:.2f} |"
    assert line in (DOCS / "how_to" / "studies.md").read_text().splitlines()
