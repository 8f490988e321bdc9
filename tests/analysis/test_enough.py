"""What more trials may bring, told from those that are there."""

from itertools import combinations, pairwise
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuroplastic.analysis.enough import expected_best
from neuroplastic.errors import ConfigError

MEANS = st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=9)


@given(MEANS, st.data())
def test_it_is_the_average_over_all_choices_of_so_many_trials(means, data):
    trials = data.draw(st.integers(1, len(means)))
    choices = [max(chosen) for chosen in combinations(means, trials)]
    assert expected_best(means, trials) == pytest.approx(fmean(choices), abs=1e-9)


@given(MEANS, st.randoms())
def test_the_order_of_trials_does_not_matter_and_more_of_them_are_never_worse(means, random):
    mixed = random.sample(means, len(means))
    grown = [expected_best(mixed, trials) for trials in range(1, len(means) + 1)]
    assert grown == [expected_best(means, trials) for trials in range(1, len(means) + 1)]
    assert all(more >= fewer - 1e-9 for fewer, more in pairwise(grown))


def test_thousands_of_trials_are_few_enough():
    means = list(range(5000))
    assert expected_best(means, 5000) == 4999
    assert expected_best(means, 1) == pytest.approx(4999 / 2)
    # Of n of the numbers 0 to N - 1 the greatest is n (N + 1) / (n + 1) - 1 on average.
    assert expected_best(means, 2500) == pytest.approx(2500 * 5001 / 2501 - 1)


def test_the_best_of_none_or_of_more_than_there_are_is_refused():
    with pytest.raises(ConfigError, match="trials must be a whole number of at least 1, got 0"):
        expected_best([1.0], 0)
    with pytest.raises(ConfigError, match="trials must be at most 2, got 3"):
        expected_best([1.0, 2.0], 3)
