import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from neuroplastic.learn import CheckpointStore
from tests.learn import resumable_run

ROOT = Path(__file__).parents[2]


def start(learner: str, folder: Path, steps: int, every: int) -> subprocess.Popen[str]:
    command = [
        sys.executable,
        "-m",
        "tests.learn.resumable_run",
        learner,
        str(folder),
        str(steps),
        str(every),
    ]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def kill_at_a_random_moment(process: subprocess.Popen[str], rng: np.random.Generator, steps: int) -> bool:
    """Let it run for some steps and some milliseconds more, then SIGKILL it; False if it came to its end first."""
    assert process.stdout is not None
    for _ in range(int(rng.integers(1, steps))):
        if not process.stdout.readline():
            break
    time.sleep(float(rng.uniform(0, 0.02)))
    process.kill()
    process.stdout.close()
    return process.wait() != 0


def content(folder: Path, step: int) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in CheckpointStore(folder).path(step).iterdir()}


def killed_run_equals_undisturbed_run(
    tmp_path: Path, *, learner: str, kills: int, steps: int, every: int, seed: int
) -> None:
    resumable_run.main(learner, str(tmp_path / "undisturbed"), steps, every)
    rng = np.random.default_rng(seed)
    done = 0
    while done < kills:
        process = start(learner, tmp_path / "killed", steps, every)
        # At most two thirds of the run in all, so that every kill finds it running.
        done += kill_at_a_random_moment(process, rng, 2 * steps // (3 * kills))
        assert CheckpointStore(tmp_path / "killed").steps()[-1:] != [steps]
    last = start(learner, tmp_path / "killed", steps, every)
    last.communicate()
    assert last.returncode == 0
    # The last checkpoint holds weights, optimizer, memory or rollout, random states, episodes and losses.
    assert content(tmp_path / "killed", steps) == content(tmp_path / "undisturbed", steps)


@pytest.mark.parametrize("learner", resumable_run.CONFIGS)
@pytest.mark.slow  # tests/cli/test_killed.py kills runs once, in all the ways there are
def test_a_run_killed_twice_ends_in_the_same_bits(tmp_path, learner):
    killed_run_equals_undisturbed_run(tmp_path, learner=learner, kills=2, steps=90, every=8, seed=0)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("run", range(20))
@pytest.mark.parametrize("learner", resumable_run.CONFIGS)
def test_each_of_twenty_killed_runs_ends_in_the_same_bits(tmp_path, learner, run):
    killed_run_equals_undisturbed_run(
        tmp_path, learner=learner, kills=1, steps=240, every=int(5 + run), seed=100 + run
    )


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("learner", resumable_run.CONFIGS)
def test_a_run_killed_twenty_times_ends_in_the_same_bits(tmp_path, learner):
    killed_run_equals_undisturbed_run(tmp_path, learner=learner, kills=20, steps=1200, every=7, seed=1)
