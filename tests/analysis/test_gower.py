"""Weighted Gower distances, clusters, medoids and dendrograms: by hand and by law."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from neuroplastic import analysis
from neuroplastic.analysis import AnalysisError, Sample, TableError, TooFewError

NAN = float("nan")


def test_gower_of_mixed_columns_by_hand() -> None:
    rows = [
        {"rules": 64, "reduce": "sum", "stge": True},
        {"rules": 256, "reduce": "mean", "stge": True},
        {"rules": 128, "reduce": "sum", "stge": False},
    ]
    # range of rules 192; weights 2, 1, 1
    distances = analysis.gower_distances(rows, weights={"rules": 2, "reduce": 1, "stge": 1})
    assert distances[0, 1] == pytest.approx((2 * 1 + 1 + 0) / 4)
    assert distances[0, 2] == pytest.approx((2 * 64 / 192 + 0 + 1) / 4)
    assert distances[1, 2] == pytest.approx((2 * 128 / 192 + 1 + 1) / 4)
    assert np.array_equal(distances, distances.T)
    assert not distances.diagonal().any()


def test_negative_values_are_scaled_by_their_range() -> None:
    distances = analysis.gower_distances([{"x": -10.0}, {"x": 0.0}, {"x": 10.0}])
    assert distances[0].tolist() == [0, 0.5, 1]


def test_nan_leaves_its_column_out_of_both_sums() -> None:
    rows = [{"a": 0.0, "b": "x"}, {"a": NAN, "b": "y"}, {"a": 1.0, "b": "x"}]
    distances = analysis.gower_distances(rows, weights={"a": 3, "b": 1})
    assert distances[0, 1] == 1  # b alone
    assert distances[0, 2] == pytest.approx(3 / 4)


def test_a_value_that_does_not_apply_equals_another_such_and_nothing_else() -> None:
    rows = [{"tau": None, "x": 0}, {"x": 0}, {"tau": 0.5, "x": 0}, {"tau": 0.7, "x": 0}]
    distances = analysis.gower_distances(rows)
    assert distances[0].tolist() == [0, 0, 0.5, 0.5]
    assert distances[2, 3] == 0.5


def test_a_text_column_may_lack_values_too() -> None:
    distances = analysis.gower_distances([{"h": "ReLU", "x": 1}, {"h": None, "x": 1}, {"h": NAN, "x": 1}])
    assert distances[0].tolist() == [0, 0.5, 0]


def test_true_is_not_the_number_one() -> None:
    assert analysis.gower_distances([{"a": True}, {"a": "1"}])[0, 1] == 1
    assert analysis.gower_distances([{"a": True, "b": "x"}, {"a": 1, "b": "x"}])[0, 1] == 0.5


def test_a_given_range_takes_the_place_of_the_columns_own() -> None:
    assert analysis.gower_distances([{"x": 1}, {"x": 3}], ranges={"x": 8})[0, 1] == pytest.approx(0.25)
    with pytest.raises(AnalysisError, match="range of x"):
        analysis.gower_distances([{"x": 1}, {"x": 3}], ranges={"x": 1})


def test_numeric_gower_is_the_city_block_distance_of_scaled_columns() -> None:
    table = np.random.default_rng(3).normal(size=(20, 4))
    weights = np.array([0.1, 2.0, 0.0, 1.0])
    scaled = (table - table.min(axis=0)) / np.ptp(table, axis=0)
    expected = squareform(pdist(scaled, "cityblock", w=weights / weights.sum()))
    rows = [dict(zip("abcd", row.tolist(), strict=True)) for row in table]
    ours = analysis.gower_distances(rows, weights=dict(zip("abcd", weights.tolist(), strict=True)))
    assert ours == pytest.approx(expected, abs=1e-12)


def test_bad_rows_and_weights_raise() -> None:
    with pytest.raises(TooFewError):
        analysis.gower_distances([])
    with pytest.raises(AnalysisError, match="no entry for b"):
        analysis.gower_distances([{"a": 1, "b": 2}], weights={"a": 1})
    with pytest.raises(AnalysisError, match="at least 0"):
        analysis.gower_distances([{"a": 1}], weights={"a": -1})
    with pytest.raises(TableError, match="no column of weight above 0"):
        analysis.gower_distances([{"a": 1}, {"a": 2}], weights={"a": 0})
    with pytest.raises(TableError, match="rows 0 and 1"):
        analysis.gower_distances([{"a": NAN, "b": 1.0}, {"a": 1.0, "b": NAN}, {"a": 1.0, "b": 1.0}])
    with pytest.raises(TableError, match="infinite"):
        analysis.gower_distances([{"a": float("inf")}, {"a": 1.0}])


def test_medoid_by_hand() -> None:
    # points 0, 1, 3, 7 on a line: sums 11, 9, 9, 17; of equal sums the first
    points = np.array([0.0, 1.0, 3.0, 7.0])
    distances = np.abs(points[:, None] - points)
    assert analysis.medoid(distances) == 1
    assert analysis.medoid(distances, [1, 2, 3]) == 2
    assert analysis.medoid(distances, [3]) == 3
    with pytest.raises(TooFewError):
        analysis.medoid(distances, [])
    with pytest.raises(TableError, match="square"):
        analysis.medoid([[0.0, 1.0]])


def test_two_far_groups_are_two_clusters_best_mean_first() -> None:
    generator = np.random.default_rng(0)
    points = np.concatenate([generator.normal(0, 0.01, 6), generator.normal(1, 0.01, 5)])
    scores = [Sample(10.0, 1.0, 25)] * 6 + [Sample(20.0, 2.0, 25)] * 5
    found = analysis.clusters(np.abs(points[:, None] - points), scores)
    best = found[0]
    assert set(best.members) <= set(range(6, 11))
    assert (best.score.mean, best.score.sd) == (pytest.approx(20), pytest.approx(2))
    assert best.medoid in best.members
    assert best.support == len(best.members) >= 3


def test_equal_trials_are_one_cluster() -> None:
    found = analysis.clusters(np.zeros((4, 4)), [Sample(1.0, 0.0, 25)] * 4)
    assert [cluster.members for cluster in found] == [(0, 1, 2, 3)]


def test_fewer_trials_than_a_cluster_needs_raise() -> None:
    with pytest.raises(TooFewError, match="at least min_samples = 3"):
        analysis.optics_labels(np.zeros((2, 2)))
    with pytest.raises(TableError, match="one entry per row"):
        analysis.clusters(np.zeros((3, 3)), [])


def test_upgma_by_hand() -> None:
    # A-B at 2; then C to {A, B} at (6 + 8) / 2 = 7; D at the mean of 10, 12, 14
    matrix = np.array([[0, 2, 6, 10], [2, 0, 8, 12], [6, 8, 0, 14], [10, 12, 14, 0]], float)
    tree = analysis.upgma("ABCD", matrix)
    assert [(set(merge.names), merge.height) for merge in tree.merges] == [
        ({"A", "B"}, 2),
        ({"A", "B", "C"}, 7),
        ({"A", "B", "C", "D"}, 12),
    ]


def test_a_dendrogram_of_one_task_or_of_a_wrong_matrix_raises() -> None:
    with pytest.raises(TooFewError, match="at least 2 tasks"):
        analysis.upgma(["BP"], [[0.0]])
    with pytest.raises(TableError, match="one row and column per name"):
        analysis.upgma(["BP", "GH"], [[0.0]])
    with pytest.raises(TableError, match="zeros on the diagonal"):
        analysis.upgma(["BP", "GH"], [[1.0, 0.0], [0.0, 0.0]])
