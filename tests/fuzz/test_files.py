"""Files from strangers: whatever was done to one, it is read or refused in a line, in little time and memory.

A few of every kind here; hours of it in `make soak`, and any number by `make fuzz`.
"""

import pickle
from pathlib import Path

import pytest

from tests.fuzz.__main__ import names
from tests.fuzz.cases import KINDS, structural_count
from tests.fuzz.judging import judge
from tests.fuzz.worker import watch

# Of a kind whose readers are slow, fewer.
FEW = {"study": 4, "preset": 6, "run": 6, "checkpoint": 8, "boxed": 6}


def test_damaged_files_of_every_kind_are_read_or_refused_in_a_line():
    assert len(KINDS) == 20  # none is left out where everything is installed
    chosen = [name for kind in KINDS for name in names(kind, FEW.get(kind, 14), seed=0)]
    verdict = judge(chosen)
    assert not verdict.faults, "\n".join(verdict.faults[:10])
    assert verdict.files == len(chosen)
    assert verdict.ended["refused"] > 150
    assert verdict.ended["fine"] > 50


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_thousands_of_damages_are_read_or_refused_in_a_line(kind, capsys):
    slow = kind in FEW
    every = [f"{kind}:{number}" for number in range(0, structural_count(kind), 7 if slow else 1)][:5000]
    verdict = judge([*every, *names(kind, 300 if slow else 3000, seed=1)])
    with capsys.disabled():
        print(f"\n{kind}: {verdict}")
    assert not verdict.faults, "\n".join(verdict.faults[:10])


def test_code_that_a_file_has_run_is_seen():
    seen = watch()
    pickle.loads(pickle.dumps(Path))
    assert "pickle.find_class" in seen
