"""Networks trained on five data sets lose most of what there is to read, and next to none of what they know."""

import time

import pytest
import torch

import neuroplastic as npl
from benchmarks.simplifying import CASES, score, trained

QUICK = ("iris",)


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=[] if case.name in QUICK else [pytest.mark.slow]) for case in CASES],
    ids=[case.name for case in CASES],
)
def test_a_trained_network_gets_small_and_stays_as_good(case):
    found = trained(case)
    x, _ = found.seen
    result = npl.simplify(found.net, x, 0.1, rounds=1 if case.name in QUICK else 2)
    before, after = result.report.before, result.report.after
    print(f"\n{result}")
    with torch.no_grad():
        old, new = found.net(x).double(), result.network(x).double()
    assert float(((new - old) / old.std(dim=0, unbiased=False)).abs().max()) <= 0.1
    assert after.rules <= 0.9 * before.rules
    assert after.sets <= 0.6 * before.sets
    assert after.premises <= 0.5 * before.premises
    assert abs(score(result.network, found.seen) - score(found.net, found.seen)) <= 1.0
    # On rows that neither saw: a point, or where a row is more than that, one row.
    rows = len(found.unseen[0])
    assert score(result.network, found.unseen) >= score(found.net, found.unseen) - max(1.0, 100 / rows + 1e-6)


@pytest.mark.slow
def test_digits_are_simplified_within_half_a_minute_on_one_core():
    found = trained(next(case for case in CASES if case.name == "digits"))
    started = time.process_time()  # of this process alone: other work on the machine must not fail a test
    npl.simplify(found.net, found.seen[0], 0.25)
    assert time.process_time() - started < 30
