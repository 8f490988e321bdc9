"""Runs begun, stopped, gone on with and followed in a browser; and what is left when the studio is killed."""

import json
import os
import signal
import time
import urllib.request
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="needs the extra 'studio'")
pytest.importorskip("gymnasium", reason="needs the extra 'gym'")

from tests.studio.conftest import Served

NAME = "CartPole-v1-nfn-standard-seed0"
BEGIN = """document.querySelector('#epochs').value = arguments[0];
document.querySelector('#steps').value = arguments[1];
document.querySelector('#begin button').click()"""


def children(pid):
    """Processes below a process, all generations."""
    own = [
        int(word)
        for path in Path(f"/proc/{pid}/task").glob("*/children")
        for word in path.read_text().split()
    ]
    return own + [deeper for child in own for deeper in children(child)]


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.slow
def test_a_run_is_begun_stopped_gone_on_with_and_followed(studio, browser, until):
    browser.go(f"{studio.base}/train?task=CartPole-v1")
    until("return Train.state.told !== null")
    browser(BEGIN, 1000, 256)  # more than it can make before it is stopped
    until("return Train.state.told.followed.some((run) => run.steps.length >= 2)")
    assert browser("return document.querySelectorAll('#curves figure').length") >= 5
    browser("document.querySelector('#here button').click()")
    until("return Train.state.told.here.some((run) => run.state === 'stopped')")
    until("return Train.state.told.followed.every((run) => !run.running)")
    made = browser("return Train.state.told.followed[0].steps.length")
    assert made < 1000
    until(
        "const go = [...document.querySelectorAll('#chosen button')][0]; if (go) go.click(); return Boolean(go)"
    )
    until("return Train.state.told.followed[0].steps.length > arguments[0]", made)
    browser("document.querySelector('#here button').click()")
    until("return Train.state.told.here.at(-1).state === 'stopped'")
    assert (studio.folder / "runs" / NAME / "metrics.csv").is_file()
    assert browser.complaints() == []


def test_a_task_that_is_not_there_is_said_so(studio, browser, until):
    browser.go(f"{studio.base}/train?task=%3Cb%3ENothing-v0")
    until("return Train.state.told !== null")
    browser("document.querySelector('#begin button').click()")
    said = until(
        "return Train.state.told.here.some((run) => run.state === 'failed') && "
        "document.querySelector('#here .problem')?.textContent"
    )
    assert "<b>Nothing-v0" in said


@pytest.mark.slow
def test_a_studio_killed_while_it_trains_leaves_no_process_and_what_was_finished(tmp_path):
    served = Served(tmp_path)
    wish = {"task": "CartPole-v1", "epochs": 500, "steps_per_epoch": 256}
    asked = urllib.request.Request(
        f"{served.base}/api/runs", json.dumps(wish).encode(), {"Origin": served.base}
    )
    urllib.request.urlopen(asked).close()
    metrics = tmp_path / "runs" / NAME / "metrics.csv"
    end = time.monotonic() + 60
    while not (metrics.is_file() and metrics.read_text().count("\n") > 2):
        assert time.monotonic() < end
        time.sleep(0.1)
    below = children(served.process.pid)
    assert below
    os.kill(served.process.pid, signal.SIGKILL)
    served.process.wait()
    served.process.stdout.close()
    end = time.monotonic() + 15
    while any(map(alive, below)) and time.monotonic() < end:
        time.sleep(0.1)
    assert not [pid for pid in below if alive(pid)]
    from neuroplastic.experiment.run_folder import RunFolder

    folder = RunFolder(metrics.parent)
    assert len(folder.metrics()) >= 2
    assert folder.checkpoints.load() is not None
    assert not folder.is_locked
