import pandas as pd

from neuroplastic.usecases.opening import open_anything
from neuroplastic.usecases.tables import predictions_beside
from neuroplastic.usecases.told_rows import tell_row


def test_a_row_is_told_with_its_values_the_answer_the_truth_and_the_rules(place, frame):
    opened = open_anything(place / "model")
    told = tell_row(opened, place / "rows.csv", row=3)
    assert dict(told.row)["colour"] == frame["colour"][2]
    assert told.truth == frame["kind"][2]
    assert told.says == opened.model.predict(frame)["kind"][2]
    assert told.right == (told.says == told.truth)
    assert 0.5 <= told.probability <= 1
    assert told.rules
    assert all(rule.sentence.startswith("IF ") and 0 < rule.share <= 1 for rule in told.rules)


def test_of_a_row_without_the_target_no_truth_is_told(place, tmp_path, frame):
    frame.drop(columns="kind").to_csv(tmp_path / "new.csv", index=False)
    told = tell_row(open_anything(place / "model"), tmp_path / "new.csv")
    assert (told.truth, told.right) == (None, None)


def test_predictions_stand_beside_the_rows_that_they_are_of(place, frame):
    model = open_anything(place / "model").model
    beside = predictions_beside(model, place / "rows.csv")
    assert list(beside)[:4] == ["size", "colour", "kind", "predicted kind"]
    pd.testing.assert_series_equal(beside["kind"], frame["kind"], check_dtype=False)
    assert (beside["predicted kind"] == model.predict(frame)["kind"]).all()


def test_a_note_beside_a_row_says_what_training_did_not_have(place, frame, tmp_path):
    model = open_anything(place / "model").model
    assert set(predictions_beside(model, place / "rows.csv")["note"]) == {""}
    frame.head(2).assign(colour=["green", "red"], note="mine").to_csv(tmp_path / "new.csv", index=False)
    beside = predictions_beside(model, tmp_path / "new.csv")
    assert beside["note"].tolist() == ["mine", "mine"]
    assert beside["note on the row"].tolist() == ["colour is a category never seen in training", ""]
