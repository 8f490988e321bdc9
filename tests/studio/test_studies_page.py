"""Studies in a browser: the best trials, what matters, and the report in its frame."""

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("starlette", reason="needs the extra 'studio'")
pytest.importorskip("optuna", reason="needs the extra 'study'")

from tests.studio.conftest import Served

HOSTILE = "<b onclick=x>BP"


@pytest.fixture(scope="module")
def with_studies(tmp_path_factory):
    rng = np.random.default_rng(0)
    rate = rng.uniform(1e-4, 1e-3, 60)
    frame = pd.DataFrame(
        {"trial": range(60), "task": "BP", "agent": "nfn", "study": HOSTILE, "state": "COMPLETE"}
    )
    frame["mean"], frame["sd"], frame["slope"] = 1e5 * rate, 1.0, 0.1
    frame["learning_rate"], frame["rules"] = rate, rng.choice([64, 128], 60)
    folder = tmp_path_factory.mktemp("studies")
    frame.to_csv(folder / "made_up.csv", index=False)
    served = Served(folder, "--studies", str(folder / "made_up.csv"))
    yield served
    served.close()


def test_a_study_is_shown_with_its_best_trials_and_what_matters(with_studies, browser, until):
    browser.go(f"{with_studies.base}/studies")
    until("return !document.querySelector('#shown').hidden")
    assert browser("return document.querySelector('#study').value") == HOSTILE
    assert "60 complete" in browser("return document.querySelector('#states').textContent")
    means = browser(
        "return [...document.querySelectorAll('#best tr')].map((row) => Number(row.cells[1].textContent))"
    )
    assert means == sorted(means, reverse=True)
    assert len(means) == 10
    assert browser("return document.querySelector('#importance .name').textContent") == "learning_rate"
    assert browser("return document.querySelectorAll('#parallel .trial').length") == 60
    assert browser("return document.querySelectorAll('main b[onclick]').length") == 0
    assert browser("return location.pathname").startswith("/studies/%3Cb")
    assert browser.complaints() == []


def test_without_a_study_the_page_says_how_to_make_one(studio, browser, until):
    browser.go(f"{studio.base}/studies")
    until("return !document.querySelector('#none').hidden")
    assert "neuroplastic study run" in browser("return document.querySelector('#none').textContent")


@pytest.mark.slow
def test_the_report_is_made_and_shown_in_a_frame_of_nobodys_origin(studio, browser, until):
    browser.go(f"{studio.base}/studies")
    until("return !document.querySelector('#none').hidden")
    browser("document.querySelector('#make').click()")
    until("return document.querySelector('#making').textContent.startsWith('made')", seconds=240)
    assert (
        browser("try { return document.querySelector('#report').contentDocument } catch { return null }")
        is None
    )
