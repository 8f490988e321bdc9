"""Tables in files: how they are read, which columns are inputs, what the target is, and what is refused."""

import numpy as np
import pandas as pd
import pytest

from neuroplastic.errors import InputError, MissingPackageError
from neuroplastic.learn.columns import Columns, read_table
from neuroplastic.learn.estimators.deciding import decide
from neuroplastic.learn.estimators.encoding import Encoder


@pytest.fixture
def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "size": [1.0, np.nan, 3.0, 8.0],
            "colour": ["red", "blue", None, "red"],
            "kind": [0, 1, 1, 0],
            "price": [1.5, 2.5, 3.5, 4.5],
        }
    )


def test_inputs_are_all_columns_but_the_target_and_those_left_out(frame):
    columns = Columns.of(frame, "kind", ignore=["price"])
    assert columns.inputs == ("size", "colour")
    pd.testing.assert_frame_equal(columns.rows(frame), frame[["size", "colour"]])


def test_few_whole_numbers_are_classes_and_fractions_are_a_number(frame):
    assert Columns.of(frame, "kind").classes
    assert not Columns.of(frame, "price").classes
    assert not Columns.of(frame, "kind", classes=False).classes


def test_one_and_one_point_zero_are_the_same_class(frame):
    columns = Columns.of(frame, "kind")
    as_floats = frame.assign(kind=frame["kind"].astype(float))
    assert columns.targets(frame).tolist() == columns.targets(as_floats).tolist() == ["0", "1", "1", "0"]


def test_columns_survive_json(frame):
    columns = Columns.of(frame, "kind", ignore=["price"])
    assert Columns.from_dict(columns.as_dict()) == columns


def test_a_wrong_name_gets_a_suggestion(frame):
    with pytest.raises(InputError, match="did you mean 'price'"):
        Columns.of(frame, "prices")
    with pytest.raises(InputError, match="no column 'size'"):
        Columns.of(frame, "kind").rows(frame.drop(columns="size"))


def test_semicolons_and_parquet_are_read(frame, tmp_path):
    frame.to_csv(tmp_path / "a.csv", sep=";", index=False)
    frame.to_parquet(tmp_path / "a.parquet")
    for name in ("a.csv", "a.parquet"):
        assert read_table(tmp_path / name)["price"].tolist() == frame["price"].tolist()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is empty"),
        ("a,b\n", "no rows"),
        ("a,a \n1,2\n", "two columns"),
        ("a,b,y\n1,2,3,9\n4,5,6,9\n", "more values than its header has names"),
    ],
)
def test_a_file_that_is_no_table_is_refused(tmp_path, content, words):
    (tmp_path / "bad.csv").write_text(content)
    with pytest.raises(InputError, match=words):
        read_table(tmp_path / "bad.csv")
    with pytest.raises(InputError, match="not a file"):
        read_table(tmp_path / "none.csv")


def test_a_comma_at_the_end_of_each_row_changes_nothing(tmp_path):
    (tmp_path / "a.csv").write_text("a,b,y\n1,2,3,\n4,5,6,\n")
    assert read_table(tmp_path / "a.csv").to_dict("list") == {"a": [1, 4], "b": [2, 5], "y": [3, 6]}


@pytest.mark.parametrize("mark", [",", ";"])
def test_a_row_is_read_the_same_whatever_rows_are_beside_it(mark, tmp_path):
    rows = ["code ,sure,y", "01,TRUE,0", "02,false,1", "x,TRUE,0"]
    if mark == ";":
        rows = [row.replace("02", "1.5").replace(",", ";").replace(".", ",") for row in rows]
    for name, some in (
        ("all.csv", rows),
        ("two.csv", rows[:3]),
        ("odd.csv", [*rows, rows[1].replace("TRUE", "?")]),
    ):
        (tmp_path / name).write_text("\n".join(some))
    frame = read_table(tmp_path / "all.csv")
    columns = Columns.of(frame, "y")
    found = decide(columns.rows(frame), columns.inputs, np.ones(len(frame)))
    encode, text = Encoder(found), [column.name for column in found if column.kind == "category"]
    first = encode(columns.rows(frame))[:2]
    assert first.sum(axis=1).tolist() == [2, 2], "each of the two categories is known"
    for name in ("two.csv", "odd.csv"):
        rows = columns.rows(read_table(tmp_path / name, text=text)).iloc[:2]
        np.testing.assert_array_equal(encode(rows), first)


def test_a_parquet_file_without_pyarrow_names_the_extra(tmp_path, monkeypatch):
    def missing(path):
        raise ImportError("Unable to find a usable engine")

    monkeypatch.setattr(pd, "read_parquet", missing)
    (tmp_path / "rows.parquet").write_bytes(b"PAR1")
    with pytest.raises(MissingPackageError, match=r"neuroplastic\[table\]"):
        read_table(tmp_path / "rows.parquet")


def test_decimal_commas_are_numbers_where_semicolons_separate(tmp_path):
    (tmp_path / "d.csv").write_text("a;b;c\n1,5;x;2\n2,25;y,z;3\n")
    frame = read_table(tmp_path / "d.csv")
    assert frame["a"].tolist() == [1.5, 2.25]
    assert frame["b"].tolist() == ["x", "y,z"]


def test_a_word_in_a_target_that_is_said_to_be_a_number_is_refused(frame):
    words = "a number can only be learned from numbers, but 'colour' holds 'red' in row 1; .* learn classes"
    with pytest.raises(InputError, match=words):
        Columns.of(frame, "colour", classes=False)


def test_a_few_words_do_not_make_classes_of_a_target_of_numbers():
    target = [str(k / 10) for k in range(100)]
    target[6] = "n/a?"
    frame = pd.DataFrame({"x": range(100), "y": target})
    with pytest.raises(InputError, match="'y' is a number in 99% of the rows, but 'n/a\\?' in row 7; mend"):
        Columns.of(frame, "y")
    assert Columns.of(frame, "y", classes=True).classes
    few = frame.assign(y=[str(k % 5) for k in range(99)] + ["none"])  # numbered classes, and one with a name
    assert Columns.of(few, "y").classes
