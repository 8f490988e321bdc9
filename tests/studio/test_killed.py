"""What is killed takes nothing with it: an engine its page, a studio in the midst of a fit no process."""

import json
import os
import signal
import time
import urllib.request
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="needs the extra 'studio'")

from neuroplastic.studio.uploads import Uploads
from tests.studio.conftest import Served
from tests.studio.test_table_page import flowers
from tests.studio.test_train_page import alive, children


@pytest.mark.slow
def test_an_engine_that_is_killed_is_told_on_the_page_and_another_is_started(studio, browser, until):
    pytest.importorskip("vizdoom", reason="needs the extra 'doom'")
    browser.go(f"{studio.base}/watch/DTC?seed=7")
    until("return Watch.state.drawn > 5")
    commands = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in children(studio.process.pid)}
    engines = [pid for pid, command in commands.items() if b"viz_instance_id" in command]
    os.kill(engines[0], signal.SIGKILL)
    said = until("return document.querySelector('#cover.problem')?.innerText")
    assert "engine" in said
    browser("document.querySelector('#choice button').click()")
    before = browser("return Watch.state.drawn")
    until("return Watch.state.drawn > arguments[0] + 5", before)


@pytest.mark.slow
def test_a_studio_killed_while_it_fits_leaves_no_process_and_no_half_model(tmp_path):
    served = Served(tmp_path)

    def asked(address, content):
        request = urllib.request.Request(served.base + address, content, {"Origin": served.base})
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    key = asked("/api/tables?name=a.csv", flowers(600).encode())["key"]
    wish = {"table": key, "target": "kind", "ignore": ["name"], "readable": False}
    number = asked("/api/fits", json.dumps(wish).encode())["fit"]
    end = time.monotonic() + 60
    while True:
        with urllib.request.urlopen(f"{served.base}/api/fits/{number}") as answer:
            if json.load(answer)["headway"].get("stage") == "cross-validation":
                break
        assert time.monotonic() < end
        time.sleep(0.05)
    below = children(served.process.pid)
    served.process.kill()
    served.process.wait()
    served.process.stdout.close()
    end = time.monotonic() + 15
    while any(map(alive, below)) and time.monotonic() < end:
        time.sleep(0.1)
    assert below
    assert not [pid for pid in below if alive(pid)]
    assert [path.name for path in (tmp_path / "models").iterdir()] == [".uploads"]
    Uploads(tmp_path / "models")  # as the next studio begins
    assert not list((tmp_path / "models").iterdir())
