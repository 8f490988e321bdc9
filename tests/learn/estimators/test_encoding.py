"""What columns are taken as, how they become numbers, and what is said of them."""

import pickle

import numpy as np
import pandas as pd
import pytest

import neuroplastic as npl
from neuroplastic.errors import ConstantColumnWarning, IdentifierWarning, UnseenCategoryWarning
from neuroplastic.learn.estimators.deciding import UnusableColumnsError, decide, median
from neuroplastic.learn.estimators.encoding import UNKNOWN, Column, Encoder


@pytest.fixture
def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "size": [1.0, np.nan, 3.0, 8.0],
            "colour": ["red", "blue", None, "red"],
            "sold": [True, False, True, True],
            "made": pd.to_datetime(["2020-01-03", "2020-01-01", None, "2020-01-02T12:00"], format="ISO8601"),
            "grade": pd.Categorical(["a", "b", "a", "b"], categories=["b", "a", "never"]),
        }
    )


def decided(frame: pd.DataFrame, weight=None) -> tuple[Column, ...]:
    return decide(frame, list(frame.columns), np.ones(len(frame)) if weight is None else np.asarray(weight))


def encoder(frame: pd.DataFrame, **how) -> Encoder:
    return Encoder(decided(frame), **how)


def test_every_kind_of_column_is_found_out(frame):
    assert decided(frame) == (
        Column("size", "number", fill=3.0),
        Column("colour", "category", ("blue", "missing", "red"), fill="red"),
        Column("sold", "category", ("False", "True"), fill="True"),
        Column("made", "date", fill=1.5, origin="2020-01-01T00:00:00"),
        Column("grade", "category", ("a", "b"), fill="a"),
    )


def test_one_hot_columns_are_named_by_their_categories_and_dates_by_their_unit(frame):
    made = encoder(frame)
    assert made.names == [
        "size",
        *("colour = blue", "colour = missing", "colour = red"),
        *("sold = False", "sold = True"),
        "made (days)",
        *("grade = a", "grade = b"),
    ]
    rows = made.one_hot(frame)
    assert rows.shape == (4, made.width)
    assert rows[:, 0].tolist() == [1, 3, 3, 8]
    assert rows[:, 1:4].tolist() == [[0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert rows[:, 6].tolist() == [2.0, 0.0, 1.5, 1.5]
    assert list(made.groups.values()) == [(1, 2, 3), (4, 5), (7, 8)]


def test_codes_are_the_places_of_categories(frame):
    made = encoder(frame, form="codes")
    assert made.names == ["size", "colour", "sold", "made (days)", "grade"]
    assert made.codes(frame)[:, 1].tolist() == [2, 0, 1, 2]
    assert made.crisp == {1: ("blue", "missing", "red"), 2: ("False", "True"), 4: ("a", "b")}


def test_a_missing_value_where_none_was_in_training_is_the_most_frequent_category(frame):
    made = encoder(frame, form="codes")
    assert made(frame.assign(sold=[None, True, False, None]))[:, 2].tolist() == [1, 1, 0, 1]


def test_a_category_never_seen_is_said_and_none_of_the_known(frame):
    new = frame.assign(colour=["green", "red", "green", "pink"])
    with pytest.warns(
        UnseenCategoryWarning, match="'colour' has .*never seen.*: 'green' in 2 rows, 'pink' in 1"
    ):
        assert encoder(frame).one_hot(new)[:, 1:4].sum(axis=1).tolist() == [0, 1, 0, 0]
    with pytest.warns(npl.ColumnWarning):
        assert encoder(frame, form="codes").codes(new)[:, 1].tolist() == [UNKNOWN, 2, UNKNOWN, UNKNOWN]


def test_dates_may_be_text_of_the_iso_form_and_have_a_time_zone():
    words = pd.DataFrame({"day": ["2020-01-05", None, "2020-01-01"]})
    assert decided(words)[0] == Column("day", "date", fill=2.0, origin="2020-01-01T00:00:00")
    zoned = pd.DataFrame(
        {"day": pd.to_datetime(["2020-01-02T01:00+01:00", "2020-01-01T00:00+00:00"], utc=True)}
    )
    assert encoder(words)(zoned)[:, 0].tolist() == [1.0, 0.0]
    with pytest.raises(npl.InputError, match="column 'day' must hold dates"):
        encoder(words)(pd.DataFrame({"day": ["soon"]}))


@pytest.mark.parametrize(
    "values",
    [
        pd.array([1, None, 3], dtype="Int64"),
        pd.Series([1, None, 3], dtype=object),
        pd.Series([1.0, np.nan, 3.0], dtype="float32"),
    ],
)
def test_numbers_of_any_type_are_numbers(values):
    frame = pd.DataFrame({"a": values})
    assert decided(frame) == (Column("a", "number", fill=2.0),)
    assert encoder(frame)(frame)[:, 0].tolist() == [1, 2, 3]


def test_a_constant_column_is_kept_out_and_said_once():
    frame = pd.DataFrame({"a": [1.0, 2.0], "planet": [3, 3], "word": ["x", "x"], "hole": [np.nan, 5.0]})
    with pytest.warns(ConstantColumnWarning, match="'planet', 'word', 'hole' have the same value") as said:
        found = decided(frame)
    assert len(said) == 1
    assert [column.kind for column in found] == ["number", "constant", "constant", "constant"]
    assert Encoder(found).names == ["a"]


def test_where_all_columns_are_constant_they_stay():
    assert [column.kind for column in decided(pd.DataFrame({"a": [1, 1], "b": ["x", "x"]}))] == [
        "number",
        "category",
    ]


def test_text_that_differs_in_every_row_or_has_many_values_is_refused_by_name():
    rows = pd.DataFrame(
        {
            "id": [f"row {k}" for k in range(30)],
            "none": [None] * 30,
            "x": np.arange(30) % 7,
        }
    )
    with pytest.raises(
        UnusableColumnsError, match=r"differs in every row.*leave out 'id', 'none'"
    ) as refused:
        decided(rows)
    assert list(refused.value.reasons) == ["id", "none"]
    again = pickle.loads(pickle.dumps(refused.value))  # as it comes from another process
    assert str(again) == str(refused.value)
    many = pd.DataFrame({"city": [f"city {k % 51}" for k in range(200)], "x": np.arange(200) % 9})
    with pytest.raises(npl.InputError, match="'city' is text with 51 different values"):
        decided(many)
    days = pd.DataFrame({"since": [f"{k % 28 + 1}.{k % 12 + 1}.2016" for k in range(200)]})
    with pytest.raises(npl.InputError, match="dates are read where they are written as 2016-12-20"):
        decided(days)


def test_a_whole_number_that_counts_the_rows_is_said():
    with pytest.warns(IdentifierWarning, match="'number' is a whole number that rises"):
        decided(pd.DataFrame({"number": range(100, 130), "x": np.arange(30) % 7}))


def test_a_word_among_numbers_and_an_infinite_number_name_column_and_row(frame):
    made = encoder(frame)
    with pytest.raises(npl.InputError, match="'size' must hold numbers, got 'large' in row 2"):
        made(frame.assign(size=["1", "large", "2", "3"]))
    with pytest.raises(npl.InputError, match="'size' has an infinite value in row 3"):
        made(frame.assign(size=[1.0, 2.0, np.inf, 3.0]))


@pytest.mark.parametrize("seed", range(5))
def test_the_median_of_a_row_of_weight_two_is_that_of_the_row_twice(seed):
    rng = np.random.default_rng(seed)
    values, weight = rng.normal(size=9), rng.integers(1, 4, 9)
    values[2] = np.nan
    repeated = np.repeat(values, weight)
    assert median(values, weight.astype(float)) == median(repeated, np.ones(len(repeated)))
    assert median(repeated, np.ones(len(repeated))) == np.nanmedian(repeated)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ({"kind": "category"}, "must have categories"),
        ({"kind": "number", "categories": ("a",)}, "must have categories"),
        ({"kind": "category", "categories": ("a", "a")}, "must differ"),
        ({"kind": "category", "categories": ("a", "b"), "fill": "c"}, "must be one of its categories"),
        ({"kind": "category", "categories": ("a", "b"), "fill": 1.0}, "a fill of its kind"),
        ({"kind": "number", "fill": "a"}, "a fill of its kind"),
        ({"kind": "date"}, "must have an origin"),
        ({"kind": "date", "origin": "soon"}, "must be a date"),
        ({"kind": "date", "origin": "NaT"}, "must be a date"),
        ({"kind": "date", "origin": "2020-01-01T00:00+01:00"}, "without a time zone"),
    ],
)
def test_a_column_that_cannot_be_is_refused(column, words):
    with pytest.raises(npl.ConfigError, match=words):
        Column("c", **column)
