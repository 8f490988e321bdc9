"""Damaged files: named errors only, no hang, no file opened, nothing fetched."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def mutated(seconds, seed):
    """How many damaged files of each format were read in a process that watches for side effects."""
    command = [sys.executable, "-m", "tests.rules.standards.watched_mutation", str(seconds), str(seed)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[-3000:]
    return {name: int(count) for name, count in (line.split() for line in result.stdout.splitlines())}


@pytest.mark.slow  # `tests/fuzz` damages some of each kind in every run
def test_damaged_files_give_named_errors_and_touch_nothing():
    counts = mutated(1, 0)
    assert set(counts) == {"fml", "fcl", "fis"}
    assert min(counts.values()) > 10


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_minute_of_damaged_files_each_gives_named_errors_and_touches_nothing():
    counts = mutated(60, 1)
    assert set(counts) == {"fml", "fcl", "fis"}
    assert min(counts.values()) > 1000, counts
