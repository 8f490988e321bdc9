"""scikit-learn's own checks, with no expected failure: each is a function of theirs that asserts its claim."""

import pytest

pytest.importorskip("sklearn")

from sklearn.utils.estimator_checks import parametrize_with_checks

import neuroplastic as npl

# The defaults, but fewer updates: the checks fit some 400 times, and none of them asks for a good fit.
QUICK = 4


@parametrize_with_checks(
    [
        kind(max_updates=QUICK, readable=readable)
        for kind in (npl.NeuroFuzzyClassifier, npl.NeuroFuzzyRegressor)
        for readable in (False, True)
    ]
)
def test_estimator_keeps_scikit_learns_contract(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [
        kind(readable=readable)
        for kind in (npl.NeuroFuzzyClassifier, npl.NeuroFuzzyRegressor)
        for readable in (False, True)
    ]
)
def test_estimator_with_defaults_keeps_scikit_learns_contract(estimator, check):
    check(estimator)
