"""What parts of a scale are called."""

import pytest

import neuroplastic as npl
from neuroplastic.network.scales import Scale
from neuroplastic.rules.scale_names import named_by_scales

DEGREES = Scale("degrees", -45, 45, unseen=90)


@pytest.mark.parametrize(
    ("low", "high", "name"),
    [
        (-60, -3, "to the left by over 3°"),
        (-60, 3, "to the left, or right by under 3°"),
        (-9, -3, "3 to 9° to the left"),
        (-2.5, 4, "ahead (2.5° left to 4° right)"),
        (3, 12, "3 to 12° to the right"),
        (3, 50, "to the right by over 3°"),
        (-3, 50, "to the right, or left by under 3°"),
        (3, 99, "to the right by over 3° or not seen"),
        (60, 99, "not seen"),
        (-60, 60, "seen"),
        (-60, 99, "anything"),
    ],
)
def test_directions(low: float, high: float, name: str) -> None:
    assert DEGREES.name(low, high) == name


@pytest.mark.parametrize(
    ("low", "high", "name"),
    [(-1, 300, "under 300 m"), (300, 620, "300 to 620 m"), (1234, 1e9, "over 1200 m")],
)
def test_numbers(low: float, high: float, name: str) -> None:
    assert Scale("number", 0, 1e6, "m").name(low, high) == name


@pytest.mark.parametrize(
    ("low", "high", "name"),
    [
        (-0.5, 0.4, "0"),
        (-1, 3.2, "at most 3"),
        (1.5, 3.5, "2 to 3"),
        (1.5, 99, "at least 2"),
        (1.6, 2.4, "2"),
    ],
)
def test_counts(low: float, high: float, name: str) -> None:
    assert Scale("count", 0, 10).name(low, high) == name


def test_names_differ_as_long_as_sets_do_and_beyond() -> None:
    assert DEGREES.names([(3.01, 12), (3.02, 12)]) == ("3.01 to 12° to the right", "3.02 to 12° to the right")
    assert len(set(DEGREES.names([(3, 12)] * 3))) == 3


def test_where_values_are_clipped_a_set_that_reaches_the_end_has_all_beyond_it() -> None:
    inputs = (npl.Variable("speed", (npl.Term("a", 1.0, 1.0), npl.Term("b", 9.0, 1.0))),)
    rules = npl.RuleBase.from_text("IF speed is a THEN y is 1\nIF speed is b THEN y is 2", inputs)
    assert [t.name for t in named_by_scales(rules, [Scale()]).inputs[0].terms] == [
        "-0.18 to 2.2",
        "7.8 to 10",
    ]
    clipped = named_by_scales(rules, [Scale()], [(0.0, 10.0)])
    assert [term.name for term in clipped.inputs[0].terms] == ["under 2.2", "over 7.8"]
