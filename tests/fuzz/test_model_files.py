"""Model files from strangers: whatever was done to one, it is read or refused in a line, in little time and memory."""

import numpy as np
import pytest

from tests.fuzz.cases import BYTES, structural_count
from tests.fuzz.judging import judge
from tests.fuzz.models import MODELS as KINDS


def test_damaged_models_are_read_or_refused_in_a_line():
    generator = np.random.default_rng(0)
    names = [
        f"{kind}:{number}"
        for kind in KINDS
        for number in (*generator.integers(BYTES, size=40), *range(BYTES, BYTES + 15))
    ]
    verdict = judge(names)
    assert not verdict.faults, "\n".join(verdict.faults[:10])
    assert verdict.files == len(names)
    assert verdict.ended["refused"] > 300
    assert verdict.ended["fine"] > 50


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_damage_by_structure_and_thousands_by_bytes_are_read_or_refused_in_a_line(kind, capsys):
    numbers = [*range(structural_count(kind)), *range(BYTES, BYTES + 3000)]
    verdict = judge(f"{kind}:{number}" for number in numbers)
    with capsys.disabled():
        print(f"\n{kind}: {verdict}")
    assert not verdict.faults, "\n".join(verdict.faults[:10])
