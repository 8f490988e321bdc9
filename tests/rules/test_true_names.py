"""Names of sets that are true of the data, words of one's own, and names that stay."""

import numpy as np
import pytest
import torch

import neuroplastic as npl
from neuroplastic.network.starting import HALF
from neuroplastic.rules.naming import Naming
from neuroplastic.rules.reading import read_levels, read_rules
from neuroplastic.rules.true_names import LEVELS, NamedSet, category_names, knots_of, names_of, words_of

# A column in which the value v has v % of the data below it.
EVEN = np.linspace(0, 100, len(LEVELS))


def name(low, high, knots=EVEN, **more):
    """The name of the one set that covers the values from low to high."""
    (found,) = names_of([(low + high) / 2], [(high - low) / 2 / HALF], knots, **more)
    return found


@pytest.mark.parametrize(
    ("low", "high", "wanted"),
    [
        (-20, 10, "very low"),
        (-20, 30, "low"),
        (0, 55, "low"),
        (3, 30, "low"),  # hardly anything lies below it
        (-50, 80, "not high"),
        (90, 120, "very high"),
        (60, 120, "high"),
        (30, 130, "not low"),
        (-10, 110, "between 0 and 100"),  # nothing is known beyond the data
        (4, 97, "between 4 and 97"),
        (-40, 95, "at most 95"),
        (8, 140, "at least 8"),
        (40, 60, "medium"),
        (20, 75, "medium"),
        (10, 40, "somewhat low"),
        (62, 88, "somewhat high"),
        (12, 88, "not extreme"),
        (31, 35, "about 33"),
        (150, 170, "very high"),
        (-30, -20, "very low"),
    ],
)
def test_a_name_says_which_part_of_the_data_a_set_covers(low, high, wanted):
    assert name(low, high) == wanted


@pytest.mark.parametrize("seed", range(20))
def test_no_set_that_covers_nine_tenths_of_the_data_is_low_or_high(seed):
    rng = np.random.default_rng(seed)
    data = rng.choice([rng.normal(size=500), rng.exponential(size=500), rng.uniform(size=500) ** 3])
    knots = knots_of(data[:, None], np.ones(500))[:, 0]
    for center, width in zip(rng.normal(size=200), rng.exponential(3, size=200), strict=True):
        covers = (np.abs(data - center) <= HALF * width).mean()
        (word,) = names_of([center], [width], knots)
        ends = ("between", "at most", "at least")
        if covers > 0.95:
            assert word.startswith(ends)
        if covers < 0.85:
            assert not word.startswith(ends)
        if covers > 0.65:
            assert word not in ("low", "high", "very low", "very high")


def test_a_name_follows_the_data_and_not_the_order_of_the_sets():
    skewed = EVEN**3
    assert names_of([0, 1000], [1, 1000], None) == ("low", "high")
    assert name(-10, 30**3, skewed) == "low"
    assert name(70**3, 2e6, skewed) == "high"
    assert names_of([5, 15], [8, 25], EVEN) == ("very low", "low")  # no set is high because another is lower


def test_names_turn_around_with_the_data():
    swap = {"low": "high", "high": "low", "most": "least", "least": "most"}

    def bare(word):
        return " ".join(part for part in word.split(" ") if not part.lstrip("-").isdigit())

    for low in range(-20, 100, 7):
        for high in range(low + 2, 130, 11):
            word = name(low + 0.3, high + 0.45)
            turned = " ".join(swap.get(part, part) for part in bare(word).split(" "))
            assert bare(name(99.55 - high, 99.7 - low)) == turned


def test_sets_with_one_name_are_told_apart_by_where_they_end():
    found = names_of([0, 0, 100, 100], [20 / HALF, 31 / HALF, 25 / HALF, 35 / HALF], EVEN)
    assert found == ("low (to 20)", "low (to 31)", "high (from 75)", "high (from 65)")
    found = names_of([50, 50], [15 / HALF, 20 / HALF], EVEN)
    assert found == ("medium (35 to 65)", "medium (30 to 70)")
    found = names_of([50, 50], [60 / HALF, 70 / HALF], EVEN)
    assert found == ("between -10 and 110", "between -20 and 120")


def test_digits_are_added_until_names_differ_and_twins_are_counted():
    assert names_of([0, 0], [20.01 / HALF, 20.02 / HALF], EVEN) == ("low (to 20.01)", "low (to 20.02)")
    assert names_of([33, 33.2], [1, 1], EVEN) == ("about 33.0", "about 33.2")
    assert names_of([0, 0], [15, 15], EVEN) == ("low 2", "low 3")


def test_a_set_that_rules_use_keeps_the_short_name_beside_one_that_none_uses():
    widths = [20 / HALF, 31 / HALF]
    assert names_of([0, 0], widths, EVEN, used=[False, True]) == ("low (to 20)", "low")
    assert names_of([0, 0], widths, EVEN, used=[False, False]) == ("low (to 20)", "low (to 31)")


def test_two_words_replace_low_and_high_and_three_the_middle_too():
    two, three = words_of(("short", "long"), "x"), words_of(["short", "middling", "long"], "x")
    assert name(-20, 10, words=two) == "very short"
    assert name(-50, 80, words=two) == "not long"
    assert name(10, 40, words=two) == "somewhat short"
    assert name(40, 60, words=two) == "medium"
    assert name(40, 60, words=three) == "middling"
    assert names_of([0, 1, 2, 3, 4], [1] * 5, None, words=three) == (
        *("very short", "short", "middling", "long", "very long"),
    )


@pytest.mark.parametrize(
    "wrong", ["short", (), ("short",), ("a", "b", "c", "d"), ("a", "a"), (1, 2), ("any", "b")]
)
def test_wrong_words_are_refused_by_the_name_of_their_column(wrong):
    with pytest.raises(npl.ConfigError, match="size"):
        words_of(wrong, "size")


def test_values_of_a_column_with_few_are_named_by_themselves():
    truth = np.array([0.0] * 12 + [1.0] * 9)
    assert names_of([0, 1], [0.3, 0.3], truth) == ("0", "1")
    assert names_of([0, 1], [0.3, 0.3], truth, words=("female", "medium", "male")) == ("female", "male")
    assert names_of([0], [3], truth) == ("between 0 and 1",)
    tail = np.array([0.0] * 19 + [5013.0, 99999.0])  # which may have any number of values
    assert names_of([0], [100], tail) == ("at most 118",)  # and not 0, rounded as suits the range


def test_a_kept_name_stays_with_its_set_and_no_other_gets_it():
    kept = [NamedSet("low (to 20)", 0.0, 20 / HALF)]
    assert names_of([0.1], [20.1 / HALF], EVEN, kept=kept) == ("low (to 20)",)
    assert names_of([30], [20 / HALF], EVEN, kept=kept) == ("somewhat low",)  # it moved away
    assert names_of([0.1], [20.1 / HALF], EVEN, kept=kept, words=("short", "medium", "long")) == (
        "short (to 20)",
    )
    former = [NamedSet("anything usual", 50.0, 60 / HALF)]
    assert names_of([50], [60 / HALF], EVEN, kept=former) == ("between 0 and 100",)
    taken = [NamedSet("low", 0.0, 31 / HALF)]
    assert names_of([0, 0], [20 / HALF, 31 / HALF], EVEN, kept=taken) == ("low (to 20)", "low")


def test_knots_are_values_of_the_data_and_a_weight_of_two_is_the_row_twice():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(40, 2)).round(1)
    weight = rng.integers(1, 4, 40)
    knots = knots_of(values, weight.astype(float))
    assert np.array_equal(knots, knots_of(np.repeat(values, weight, axis=0), np.ones(weight.sum())))
    assert np.array_equal(knots[0], values.min(axis=0))
    assert np.array_equal(knots[-1], values.max(axis=0))
    assert np.isin(knots[:, 0], values[:, 0]).all()
    assert (np.diff(knots, axis=0) >= 0).all()


def test_one_value_and_great_values_have_names():
    assert names_of([3.0], [1.0], np.full(21, 3.0)) == ("about 3",)
    assert names_of([30.0], [1.0], np.full(21, 3.0)) == ("very high",)
    great = np.linspace(-1, 1, 21) * 1e308
    assert names_of([0.0], [1e300], great) == ("about 0",)


def test_categories_are_named_by_those_a_set_covers():
    centers, widths = np.array([0.0, 0.5, 1.0, 2.0, 9.0]), np.array([0.3, 0.9, 9.0, 0.3, 0.2])
    assert category_names(centers, widths, ["primary", "secondary", "university"]) == [
        *("primary", "primary or secondary", "anything known", "university", "university 2"),
    ]


def test_a_set_of_all_categories_but_the_missing_one_is_known():
    centers, widths = np.array([0.5, 1.0]), np.array([0.9, 1.5])
    cities = ["Praha", "Wien", "missing"]
    assert category_names(centers, widths, cities, missing=2) == ["known", "anything known"]
    assert category_names(centers[:1], widths[:1], cities) == ["Praha or Wien"]


def test_data_and_words_name_the_sets_of_a_network_in_raw_units():
    torch.manual_seed(0)
    net = npl.NeuroFuzzyNetwork(2, 1, rules=3, terms=2, input_range=((0, 0), (1, 1)))
    naming = Naming(
        feature_names=["size", "age"],
        scaler=([0.0, 0.0], [100.0, 100.0]),
        words={"size": ("small", "large")},
        quantiles=np.stack([EVEN, EVEN], axis=1),
    )
    size, age = read_rules(net, naming).inputs
    assert {"small", "large"} & {word for term in size.terms for word in term.name.split(" ")}
    assert {"low", "high"} & {word for term in age.terms for word in term.name.split(" ")}
    assert [base.json() for base in read_levels(net, naming)] == [read_rules(net, naming).json()]
    with pytest.raises(npl.ConfigError, match="words are for variables that do not exist: weight"):
        read_rules(net, Naming(words={"weight": ("light", "heavy")}))


def test_words_name_the_terms_of_fuzzy_conclusions():
    torch.manual_seed(0)
    net = npl.NeuroFuzzyNetwork(1, 1, rules=2, consequent=npl.Mamdani(3))
    rules = read_rules(net, Naming(output_names=["tip"], words={"tip": ("mean", "generous")}))
    assert [term.name for term in rules.outputs[0].terms] == ["mean", "medium", "generous"]
