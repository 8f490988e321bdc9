"""JavaScript in headless Chromium, driven by chromedriver over the WebDriver protocol, or in node; no package."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

CHROMIUM = bool(shutil.which("chromedriver") and shutil.which("chromium"))
NODE = bool(shutil.which("node"))
NO_CHROMIUM = "needs chromium and chromedriver (Debian: apt-get install chromium chromium-driver)"
START = 60


class BrowserError(Exception):
    """What was asked of the browser failed there: a script that raised, a page that is not there yet."""


class Browser:
    """A page in headless Chromium."""

    def __init__(self, width: int = 1400, height: int = 1000) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="browser-")
        self._driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self._driver.stdout is not None
        said = ""
        while "on port " not in said or "successfully" not in said:
            said = self._driver.stdout.readline()
            assert said or self._driver.poll() is None, "chromedriver did not start"
        self._address = f"http://127.0.0.1:{int(said.rpartition('port ')[2].strip().rstrip('.'))}/session"
        flags = [
            "--headless=new",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            f"--window-size={width},{height}",
        ]
        flags += [f"--user-data-dir={self._folder.name}", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
        wanted = {
            "browserName": "chrome",
            "goog:chromeOptions": {"args": flags},
            "goog:loggingPrefs": {"browser": "ALL"},
        }
        made = self._send("", {"capabilities": {"alwaysMatch": wanted}})
        self._address += f"/{made['sessionId']}"

    def _send(self, path: str, content: object) -> Any:
        request = urllib.request.Request(
            self._address + path, json.dumps(content).encode(), {"Content-Type": "application/json"}
        )
        try:
            with urllib.request.urlopen(request, timeout=START) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise BrowserError(json.load(error)["value"]["message"]) from None

    def open(self, page: Path) -> None:
        """Show a file."""
        self.go(page.absolute().as_uri())

    def go(self, address: str) -> None:
        """Show an address."""
        self._send("/url", {"url": address})

    def press(self, *keys: str) -> None:
        """Press keys one after the other, as on a keyboard."""
        strokes = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self._send("/actions", {"actions": [{"type": "key", "id": "keys", "actions": strokes}]})

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Press the mouse at a place of the window, move it to another, and let go."""
        (x, y), (to_x, to_y) = start, end
        middle = (x + to_x) / 2, (y + to_y) / 2
        moves = [(x, y), middle, (to_x, to_y)]
        steps = [{"type": "pointerMove", "duration": 50, "x": round(a), "y": round(b)} for a, b in moves]
        steps = [
            steps[0],
            {"type": "pointerDown", "button": 0},
            *steps[1:],
            {"type": "pointerUp", "button": 0},
        ]
        self._send("/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": steps}]})

    def picture(self, *, whole: bool = False) -> bytes:
        """What is to be seen as PNG; the `whole` page, not only what the window shows of it."""
        asked = {"cmd": "Page.captureScreenshot", "params": {"captureBeyondViewport": whole}}
        return base64.b64decode(self._send("/goog/cdp/execute", asked)["data"])

    def prefer(self, theme: str) -> None:
        """A person who prefers the 'dark' or the 'light' theme."""
        features = [{"name": "prefers-color-scheme", "value": theme}]
        self._send(
            "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {"features": features}}
        )

    def __call__(self, body: str, *arguments: object) -> Any:
        """What a function with this body returns, given `arguments`, in the page."""
        return self._send("/execute/sync", {"script": body, "args": list(arguments)})

    def complaints(self) -> list[str]:
        """What the browser logged since it was last asked: errors, and what the page's policy forbade."""
        return [entry["message"] for entry in self._send("/se/log", {"type": "browser"})]

    def resize(self, width: int, height: int) -> None:
        """Another size of the window, as phones have it too."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self._send("/goog/cdp/execute", {"cmd": "Emulation.setDeviceMetricsOverride", "params": metrics})

    def close(self) -> None:
        """End it."""
        request = urllib.request.Request(self._address, method="DELETE")
        with urllib.request.urlopen(request, timeout=START):
            pass
        self._driver.terminate()
        self._driver.wait(START)
        assert self._driver.stdout is not None
        self._driver.stdout.close()
        self._folder.cleanup()


def in_node(source: str, body: str, *arguments: object) -> Any:
    """What a function with this body returns, given `arguments`, beside the source in node."""
    program = f"{source}\nconst given = JSON.parse(require('fs').readFileSync(0, 'utf8'));\n"
    program += (
        f"const told = (function () {{ {body} }})(...given);\nprocess.stdout.write(JSON.stringify(told));\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "program.js"
        file.write_text(program, encoding="utf-8")
        done = subprocess.run(
            ["node", str(file)], input=json.dumps(arguments), capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
