"""How long small tables are trained."""

import numpy as np
import pytest

pytest.importorskip("sklearn")

import neuroplastic as npl
from neuroplastic.learn.estimators.choosing import folds, mean_curve
from neuroplastic.learn.estimators.rows import Rows


def rows(count, classes=2):
    rng = np.random.default_rng(0)
    labels = np.sort(np.arange(count) % classes).astype(float)
    return Rows(rng.normal(size=(count, 3)), labels[:, None], np.ones(count))


@pytest.mark.parametrize(("count", "times"), [(90, 3), (330, 2), (660, 1)])
def test_thirds_are_left_out_until_enough_rows_were(count, times):
    parts = folds(rows(count), labels=True, rng=np.random.RandomState(0))
    assert len(parts) == times
    left_out = np.concatenate([part.x[:, 0] for _, part in parts])
    assert len(np.unique(left_out)) == len(left_out) == times * count // 3
    for kept, part in parts:
        assert len(kept) + len(part) == count
        assert not np.intersect1d(kept.x[:, 0], part.x[:, 0]).size
        assert part.y.mean() == pytest.approx(kept.y.mean(), abs=0.02)


def test_a_training_that_stopped_sooner_counts_on_with_its_last_loss():
    np.testing.assert_allclose(mean_curve([[4.0, 2.0, 0.0], [4.0]], [3.0, 1.0]), [4.0, 2.5, 1.0])


def test_labels_without_a_pattern_stop_training_soon_and_a_pattern_does_not():
    x = np.random.default_rng(0).normal(size=(240, 2))
    noise = np.random.default_rng(1).integers(0, 2, 240)
    pattern = x[:, 0] * x[:, 1] > 0
    soon, late = (
        npl.NeuroFuzzyClassifier(8, max_updates=120, random_state=0).fit(x, y).n_iter_
        for y in (noise, pattern)
    )
    assert soon < late


def test_without_early_stopping_all_updates_are_made():
    x = np.random.default_rng(0).normal(size=(90, 2))
    noise = np.random.default_rng(1).integers(0, 2, 90)
    model = npl.NeuroFuzzyClassifier(4, max_updates=50, early_stopping=False, random_state=0)
    assert model.fit(x, noise).n_iter_ == 50
