"""What predictions of unseen rows show."""

import numpy as np
import pytest

from neuroplastic.learn.judging.held_out import HeldOut


def of_chances(chances, true):
    classes = ("a", "b", "c")[: chances.shape[1]]
    return HeldOut(np.array(true), np.array(classes)[chances.argmax(axis=1)], classes, chances)


def test_confusion_counts_what_was_taken_for_what():
    found = HeldOut(np.array(["a", "a", "b", "b"]), np.array(["a", "b", "b", "b"]), ("a", "b"))
    assert found.confusion.tolist() == [[1, 1], [0, 2]]


def test_the_area_is_the_share_of_pairs_in_the_right_order():
    second = np.array([0.1, 0.4, 0.35, 0.8])
    found = of_chances(np.stack([1 - second, second], axis=1), ["a", "a", "b", "b"])
    assert found.areas == (0.75, 0.75)
    assert found.area == 0.75


def test_honest_chances_are_calibrated_and_boastful_ones_are_not():
    rng = np.random.default_rng(0)
    second = rng.uniform(size=20_000)
    true = np.where(rng.uniform(size=20_000) < second, "b", "a")
    honest = of_chances(np.stack([1 - second, second], axis=1), true)
    assert len(honest.calibration) == 10
    assert all(abs(part.said - part.found) < 0.03 for part in honest.calibration)
    assert honest.calibration_error < 0.02
    sure = np.round(second)
    boastful = of_chances(np.stack([1 - sure, sure], axis=1), true)
    assert boastful.calibration_error == pytest.approx(0.25, abs=0.02)


def test_of_more_than_two_classes_the_predicted_one_is_judged():
    chances = np.tile([0.2, 0.7, 0.1], (40, 1))
    (part,) = {(round(p.said, 3), round(p.found, 3)) for p in of_chances(chances, ["b"] * 40).calibration}
    assert part == (0.7, 1.0)


def test_columns_are_ranked_by_their_mean_fall():
    found = HeldOut(np.zeros(2), np.zeros(2), importance={"x": (0.1, 0.3), "y": (0.4, 0.6)})
    assert [name for name, _, _ in found.ranked_importance] == ["y", "x"]
    assert found.ranked_importance[1][1:] == pytest.approx((0.2, 0.1414), abs=1e-3)


def test_a_number_has_neither_area_nor_calibration():
    found = HeldOut(np.zeros(3), np.zeros(3))
    assert (found.areas, found.area, found.calibration) == ((), None, ())
