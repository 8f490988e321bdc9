"""The fuzzer itself: it finds what a reader should not raise, and accepts what it may."""

import numpy as np
import pytest

from neuroplastic.errors import ConfigError
from tests.rules.mutation import mutate


def test_mutation_reports_an_error_that_is_not_allowed_with_its_input():
    with pytest.raises(AssertionError, match=r"ValueError is not an allowed error; input: "):
        mutate(["12", "345"], int, 5.0, np.random.default_rng(0))


@pytest.mark.parametrize("seed", ["twelve", b"twelve"])
def test_mutation_accepts_allowed_errors_and_counts_its_tries(seed):
    def target(content):
        seen.append(type(content))
        raise ConfigError("no")

    seen = []
    assert mutate([seed], target, 0.05, np.random.default_rng(0)) == len(seen) > 1
    assert set(seen) == {type(seed)}


def test_mutation_is_repeatable():
    runs = []
    for _ in range(2):
        inputs = []
        mutate(["IF a is b THEN c is 1"], inputs.append, 0.05, np.random.default_rng(5))
        runs.append(inputs)
    length = min(map(len, runs))
    assert runs[0][:length] == runs[1][:length]
