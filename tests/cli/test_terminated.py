"""A command that is asked to end by SIGTERM leaves no file under a temporary name, at whatever moment it is asked."""

import os
import shutil
import signal
import time
from pathlib import Path

import pytest

from neuroplastic.cli.terminating import terminable
from tests.commands import Signal

KEPT = Path(__file__).parents[1] / "kept" / "v0_1"
TABLE, MODEL = KEPT / "table" / "data.csv", KEPT / "table" / "model"
AGENT = KEPT / "runs" / "finished" / "BP-nfn-tuned-seed3"
TEACHER = "tests.kills.victims:balance"
DATABASE = KEPT / "studies" / "studies.db"
FEW = ("--rounds", 1, "--states", 100, "--episodes", 1, "--rules", 3)
# Commands that write, and those of them that take seconds before they do.
WRITERS = {
    "film": ("play", AGENT, "--out", "film.mp4"),
    "recording": (*("record-play", TEACHER, "--task", "CartPole-v1", "--episodes", 1, "--out", "played"),),
}
SLOW = {
    "predict": ("predict", MODEL, TABLE, "--out", "predicted.csv"),
    "rules": ("rules", MODEL, "--out", "rules.json"),
    "export": (
        *("study", "export", "BP-dnn", "--csv", "trials.csv"),
        *("--storage", DATABASE),
    ),
    "simplify": ("simplify", MODEL, "--data", TABLE, "--out", "simpler"),
    "explain": ("explain", MODEL, TABLE, "--picture", "why.png"),
    "box": ("box", AGENT, "--out", "boxed", "--episodes", 2, "--command", "unknown"),
    "imitate": ("imitate", "CartPole-v1", "--teacher", TEACHER, *FEW),
    "fit": ("fit", TABLE, "--target", "kind", "--no-baselines", "--folds", 2, "--out", "model"),
}


@pytest.mark.parametrize(
    "words",
    [*WRITERS.values(), *(pytest.param(words, marks=pytest.mark.slow) for words in SLOW.values())],
    ids=[*WRITERS, *SLOW],
)
def test_a_command_that_is_terminated_as_it_puts_its_file_in_place_leaves_none(
    words, command, tmp_path, tmp_path_factory
):
    # Even to look at a database SQLite puts a journal beside it: so at a copy.
    copied = shutil.copy(DATABASE, tmp_path_factory.mktemp("studies"))
    words = [copied if word == DATABASE else word for word in words]
    done = command(*words, dies_before_file=1, dies_by=signal.SIGTERM, code=128 + signal.SIGTERM)
    assert done.err.endswith("neuroplastic: stopped\n")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.slow
def test_a_study_that_is_terminated_says_how_to_go_on(command):
    cheap = ("--objective", "tests.search.objectives:fifth_of_a_second", "--epochs", 2, "--episodes", 3)
    words = ("study", "run", "--task", "BP", "--agent", "dnn", "--workers", 1, "--trials", 99, *cheap)
    done = command(*words, signal=Signal(signal.SIGTERM, 0, delay=3), code=128 + signal.SIGTERM)
    assert "stopped; finished trials are kept" in done.out or done.err.endswith("neuroplastic: stopped\n")


def test_a_process_that_a_command_forked_ends_at_once():
    with terminable():
        heard, ready = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(ready, b".")
            time.sleep(20)
            os._exit(0)
        os.read(heard, 1)
        os.kill(child, signal.SIGTERM)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGTERM
