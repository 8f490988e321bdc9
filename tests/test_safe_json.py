"""JSON from strangers: bounded, and refused by one kind of error."""

import json
import math
import os
import resource
import subprocess
import sys
import time

import numpy as np
import pytest

from neuroplastic import safe_json
from neuroplastic.safe_json import JsonError, parse
from tests.rules.mutation import mutate

GOOD = {"a": [1, -2.5, 1e-300, True, None, 'q"\\"[[{'], "ü": {"b": [[], {}, ""]}, "n": 2**64 - 1}


def test_what_json_writes_is_read_back():
    for ascii_only in (True, False):
        text = json.dumps(GOOD, ensure_ascii=ascii_only)
        assert parse(text) == GOOD
        assert parse(text.encode()) == GOOD


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "no JSON"),
        ("{", "no JSON"),
        (b"\xff\xfe", "no JSON"),
        ('"\\ud800"', "surrogates"),
        ("NaN", "must be finite, got NaN"),
        ("[-Infinity]", "must be finite, got -Infinity"),
        ("1e999", "too great, 1e999"),
        ("9" * 5000, "5000 digits"),
        ("[" * 65 + "]" * 65, "deeper than 64"),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, "deeper than 64"),
        ("[" * 15_000_000, "deeper than 64"),
        (b" " * (safe_json.MOST_BYTES + 1), "longer than"),
    ],
    ids=lambda value: str(value[:12]),
)
def test_text_that_is_no_json_or_too_much_of_it_is_refused_by_name(text, complaint):
    with pytest.raises(JsonError, match=complaint) as caught:
        parse(text)
    assert len(str(caught.value)) < 200


def test_depth_is_counted_outside_of_strings_only():
    assert parse(json.dumps(["[" * 500, '\\"' * 200 + "{" * 500, "\\"])) is not None
    deepest = "[" * 64 + '"]]]"' + "]" * 64
    assert parse(deepest) is not None
    with pytest.raises(JsonError, match="deeper"):
        parse(f'["\\\\", {deepest}]')


def test_numbers_that_are_not_finite_are_read_where_they_are_asked_for():
    assert math.isnan(parse("[NaN]", finite=False)[0])
    assert parse("1e999", finite=False) == math.inf


def test_damaged_json_is_read_or_refused():
    seeds = [json.dumps(GOOD), json.dumps([GOOD] * 3, indent=1), "[[[[[[]]]]]]"]
    assert mutate(seeds, parse, 1.0, np.random.default_rng(0), allowed=(JsonError,)) > 100
    raw = [text.encode() for text in seeds]
    assert mutate(raw, parse, 1.0, np.random.default_rng(1), allowed=(JsonError,)) > 100


@pytest.mark.parametrize(
    "piece", ["[]", *(pytest.param(piece, marks=pytest.mark.slow) for piece in ("{}", '""', "0", '"\\"["'))]
)
def test_the_longest_text_takes_less_than_two_gigabytes_and_ten_seconds(piece):
    code = (
        "import resource, sys; from neuroplastic.safe_json import MOST_BYTES, parse;"
        f"piece = {piece!r}; count = MOST_BYTES // (len(piece) + 1) - 2;"
        "assert len(parse('[' + ','.join([piece] * count) + ']')) == count"
    )

    def limited():
        resource.setrlimit(resource.RLIMIT_AS, (2 * 2**30, 2 * 2**30))

    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", code],
        preexec_fn=limited,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-500:]
    assert time.monotonic() - start < 60  # on a busy machine


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(JsonError, match="no regular file"):
        safe_json.read(tmp_path / "pipe")
    (tmp_path / "file").write_text("[1]")
    assert safe_json.read(tmp_path / "file") == [1]
