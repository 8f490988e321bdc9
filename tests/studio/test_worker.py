import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from neuroplastic.studio.worker import CRASHED, FAILED, Worker
from tests.studio import work

ROOT = Path(__file__).parents[2]
OWNER = """
import sys, time
from neuroplastic.studio.worker import Worker
from tests.studio import work
if __name__ == "__main__":
    worker = Worker(work.toil, hear=lambda kind, content: print(content[1], flush=True))
    time.sleep(600)
"""


class Heard:
    def __init__(self):
        self.messages, self._more = [], threading.Condition()

    def __call__(self, kind, content):
        with self._more:
            self.messages.append((kind, content))
            self._more.notify_all()

    def wait_for(self, count, seconds=30):
        with self._more:
            assert self._more.wait_for(lambda: len(self.messages) >= count, seconds), self.messages
        return self.messages


def test_a_worker_hears_and_answers_and_is_gone_when_closed():
    heard = Heard()
    worker = Worker(work.echo, "good day", hear=heard)
    worker.tell("one", 1)
    (_, (greeting, pid)), echoed = heard.wait_for(2)[:2]
    assert (greeting, echoed) == ("good day", ("echo", ("one", 1)))
    worker.close()
    assert not Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize(
    ("task", "last"), [("fail", (FAILED, "ValueError: no <b>luck</b>")), ("crash", (CRASHED, None))]
)
def test_what_becomes_of_a_worker_that_fails_is_told_and_the_studio_goes_on(task, last):
    heard = Heard()
    worker = Worker(getattr(work, task), hear=heard)
    assert heard.wait_for(1)[-1] == last
    worker.tell("anybody there?")  # no error
    worker.close()


def test_a_worker_does_not_outlive_a_studio_that_is_killed(tmp_path):
    script = tmp_path / "owner.py"
    script.write_text(OWNER, encoding="utf-8")
    path = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    owner = subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert owner.stdout is not None
    pid = int(owner.stdout.readline())
    assert Path(f"/proc/{pid}").exists()
    owner.kill()
    owner.wait()
    end = time.monotonic() + 10
    while Path(f"/proc/{pid}").exists() and time.monotonic() < end:
        time.sleep(0.05)
    assert not Path(f"/proc/{pid}").exists()
    owner.stdout.close()


def test_the_server_itself_loads_neither_torch_nor_scikit_learn():
    pytest.importorskip("uvicorn", reason="needs the extra 'studio'")
    heavy = "('torch', 'sklearn', 'pandas', 'cv2', 'gymnasium', 'vizdoom')"
    asked = f"import sys, neuroplastic.studio.serving; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
