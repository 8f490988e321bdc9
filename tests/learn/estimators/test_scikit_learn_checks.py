"""scikit-learn's own checks, with no expected failure: each is a function of theirs that asserts its claim."""

import pytest

pytest.importorskip("sklearn")

from sklearn.utils.estimator_checks import parametrize_with_checks

import neuroplastic as npl

# The defaults, but fewer updates: the checks fit some 400 times, and none of them asks for a good fit.
QUICK = 20


@parametrize_with_checks(
    [npl.NeuroFuzzyClassifier(max_updates=QUICK), npl.NeuroFuzzyRegressor(max_updates=QUICK)]
)
def test_estimator_keeps_scikit_learns_contract(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([npl.NeuroFuzzyClassifier(), npl.NeuroFuzzyRegressor()])
def test_estimator_with_defaults_keeps_scikit_learns_contract(estimator, check):
    check(estimator)
