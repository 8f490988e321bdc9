"""How long small tables are trained."""

import numpy as np
import pytest

pytest.importorskip("sklearn")

import neuroplastic as npl
from neuroplastic.learn.estimators import base, planning
from neuroplastic.learn.estimators.choosing import folds, mean_curve
from neuroplastic.learn.estimators.making import rules_of
from neuroplastic.learn.estimators.rows import Rows
from neuroplastic.learn.estimators.training import History


def rows(count, classes=2):
    rng = np.random.default_rng(0)
    labels = np.sort(np.arange(count) % classes).astype(float)
    return Rows(rng.normal(size=(count, 3)), labels[:, None], np.ones(count))


@pytest.mark.parametrize(
    ("count", "parts", "times"), [(90, 3, 3), (330, 3, 2), (660, 3, 1), (1200, 6, 1), (4000, 10, 1)]
)
def test_parts_are_left_out_until_enough_rows_were(count, parts, times):
    pairs = folds(rows(count), labels=True, rng=np.random.RandomState(0))
    assert len(pairs) == times
    left_out = np.concatenate([part.x[:, 0] for _, part in pairs])
    assert len(np.unique(left_out)) == len(left_out) == times * count // parts
    for kept, part in pairs:
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


def test_all_rows_are_trained_on_until_there_are_very_many(monkeypatch):
    seen = []
    monkeypatch.setattr(base, "train", lambda net, data, *rest, **more: seen.append(len(data)) or History())
    x = np.random.default_rng(0).normal(size=(1500, 2))
    npl.NeuroFuzzyClassifier(4, max_updates=20, random_state=0).fit(x, x[:, 0] > 0)
    assert seen == [1500]


def test_of_very_many_rows_a_part_is_spared_to_say_when_to_stop(monkeypatch):
    monkeypatch.setattr(planning, "MANY_ROWS", 1000)
    monkeypatch.setattr(planning, "MOST_HELD_OUT", 50)
    monkeypatch.setattr(base, "choose", lambda *given, **more: pytest.fail("no need to choose"))
    parts = []
    monkeypatch.setattr(
        base, "train", lambda net, data, out, *rest, **more: parts.append((len(data), len(out))) or History()
    )
    x = np.random.default_rng(0).normal(size=(1500, 2))
    npl.NeuroFuzzyClassifier(4, max_updates=20, random_state=0).fit(x, x[:, 0] > 0)
    assert parts == [(1450, 50)]


def test_rows_are_held_out_where_that_is_asked_for():
    x = np.random.default_rng(0).normal(size=(100, 2))
    model = npl.NeuroFuzzyClassifier(4, max_updates=40, early_stopping=np.True_, random_state=0)
    assert len(model.fit(x, x[:, 0] > 0).history_.held_out) == 2


@pytest.mark.parametrize(
    ("count", "updates"),
    [(50, 300), (400, 400), (1500, 600), (2500, 1000), (9000, 1500), (10**5, 15 * 391), (10**6, 24_000)],
)
def test_more_rows_are_trained_on_longer_within_limits(count, updates):
    assert planning.plan_of(npl.NeuroFuzzyClassifier(), count).updates == updates


def test_long_trainings_are_looked_at_as_often_as_short_ones():
    short, long = (planning.plan_of(npl.NeuroFuzzyClassifier(), count) for count in (9000, 10**6))
    assert (short.check_every, long.check_every) == (20, 320)


@pytest.mark.parametrize(
    ("rules", "rows", "wanted"),
    [("auto", 100, 30), ("auto", 10**5, 150), ("auto", 10**7, 200), (7, 10**7, 7)],
)
def test_more_rows_have_more_rules_unless_somebody_says_how_many(rules, rows, wanted):
    assert rules_of(npl.NeuroFuzzyClassifier(rules), rows) == wanted
