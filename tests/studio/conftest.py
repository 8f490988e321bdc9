"""A studio that serves, and a browser that looks at it."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest

from tests.javascript import CHROMIUM, NO_CHROMIUM, Browser, BrowserError

PATIENCE = 120


class Served:
    """A studio in a process of its own."""

    def __init__(self, folder, *arguments):
        command = [sys.executable, "-m", "neuroplastic", "studio", "--no-browser", "--port", "0", *arguments]
        environment = {**os.environ, "SDL_VIDEODRIVER": "dummy", "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, text=True, env=environment
        )
        self.folder = folder
        assert self.process.stdout is not None
        first = self.process.stdout.readline()
        found = re.match(r"studio: (http://127\.0\.0\.1:\d+)(/\S*)", first)
        assert found, first
        self.base, self.start = found.groups()

    def close(self):
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(20)
        finally:
            self.process.kill()
            self.process.stdout.close()


@pytest.fixture(scope="session")
def studio(tmp_path_factory):
    """A studio on the agent in the box, in a folder that was empty; one for all tests, for its start takes seconds."""
    pytest.importorskip("uvicorn", reason="needs the extra 'studio'")
    served = Served(tmp_path_factory.mktemp("studio"))
    yield served
    served.close()


@pytest.fixture(scope="session")
def chromium():
    if not CHROMIUM:
        pytest.skip(NO_CHROMIUM)
    opened = Browser()
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def browser(chromium):
    """The browser, which has nothing to complain of yet, and leaves no game running behind it."""
    chromium.complaints()
    yield chromium
    chromium.go("about:blank")


@pytest.fixture
def until(browser):
    """Waits for what a function body returns in the page to be true, and returns it."""

    def wait(body, *arguments, seconds=PATIENCE):
        end = time.monotonic() + seconds
        while True:
            late = time.monotonic() > end
            try:
                if found := browser(body, *arguments):
                    return found
                shown = browser("return document.querySelector('main').innerText") if late else ""
            except BrowserError as error:  # a page that is still to come has not what is asked of it
                shown = str(error)
            assert not late, f"not within {seconds} s: {body}\n{shown[:2000]}"
            time.sleep(0.05)

    return wait
